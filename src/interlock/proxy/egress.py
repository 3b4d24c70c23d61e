"""The way to the hosts a project allows: an HTTP proxy on a unix socket that knows nothing but its list."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from interlock.proxy.hosts import HostEntry, address_of, entry_for, hosts_of, target_of
from interlock.proxy.order import ProxyLimits
from interlock.proxy.pumping import PUMP_BYTES, both_ways, pump
from interlock.proxy.sockets import socket_path

HEAD_BYTES = 16 * 1024
LINGER_SECONDS = 1.0
_LINE = re.compile(r"([A-Z]+) (\S+) HTTP/1\.[01]", re.ASCII)
_PLAIN_URL = re.compile(r"http://([^/?#@\\]+)(/[!-~]*)?", re.ASCII)
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~]*)", re.ASCII)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Egress:
    """The open proxy of one attempt."""

    name: str
    socket: str


class _No(Exception):
    """The request is refused."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.answer = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text) + 1}\r\n"
            f"Connection: close\r\n\r\n{text}\n"
        ).encode()


@dataclass(frozen=True, slots=True)
class _Wanted:
    host: str
    port: int
    head: bytes = b""
    """Bytes to send on; empty for a tunnel."""


async def resolved(name: str, port: int) -> Sequence[str]:
    """The addresses of a name, by the machine's own means."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


class EgressProxy:
    """Opens proxies, one for each attempt whose project allows hosts."""

    def __init__(
        self, environ: Mapping[str, str], folder: Path, limits: ProxyLimits, resolve: Resolve = resolved
    ) -> None:
        self._environ = environ
        self._folder = folder
        self._limits = limits
        self._resolve = resolve

    @asynccontextmanager
    async def open(self, name: str, hosts: Sequence[str]) -> AsyncIterator[Egress]:
        """Leaving it cuts every connection."""
        listener = _Listener(hosts_of(hosts), self._limits, self._resolve)
        with socket_path(self._folder, "e", self._environ) as path:
            server = await asyncio.start_unix_server(listener.serve, path, limit=HEAD_BYTES)
            path.chmod(0o600)
            try:
                yield Egress(name, str(path))
            finally:
                server.close()
                await listener.stop()


class _Listener:
    """Serves the connections of one attempt."""

    def __init__(self, hosts: Sequence[HostEntry], limits: ProxyLimits, resolve: Resolve) -> None:
        self._hosts = hosts
        self._limits = limits
        self._resolve = resolve
        self._tasks: set[asyncio.Task[object]] = set()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("the server starts a task for each connection")
        self._tasks.add(task)
        try:
            await self._answer(reader, writer)
        except _No as refused:
            await _refuse(refused, reader, writer)
        except (OSError, EOFError):
            pass  # Either side is gone; there is no reader to tell.
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) > self._limits.connections:
            raise _No("503 Service Unavailable", "too many connections at once")
        wanted = await self._wanted(reader)
        entry = entry_for(self._hosts, wanted.host, wanted.port)
        if not entry:
            text = f"{wanted.host}:{wanted.port} is not among the hosts this project allows (allow_hosts)"
            raise _No("403 Forbidden", text)
        addresses = await self._addresses(entry, wanted)
        upstream, far = await self._connect(addresses, wanted)
        try:
            if wanted.head:
                far.write(wanted.head)
                await pump(upstream, writer)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await both_ways((reader, writer), (upstream, far))
        finally:
            far.close()

    async def _wanted(self, reader: asyncio.StreamReader) -> _Wanted:
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.LimitOverrunError, TimeoutError) as problem:
            raise _No("400 Bad Request", "this is not a request to a proxy") from problem
        wanted = _read(head)
        if not wanted:
            raise _No("400 Bad Request", "only CONNECT host:port, and GET or HEAD of http://host/path")
        return wanted

    async def _addresses(self, entry: HostEntry, wanted: _Wanted) -> Sequence[str]:
        literal = address_of(wanted.host)
        try:
            found = [str(literal)] if literal else await self._resolve(wanted.host, wanted.port)
        except OSError as problem:
            raise _No("502 Bad Gateway", f"{wanted.host} cannot be found") from problem
        allowed = [text for text in found if (address := address_of(text)) and entry.may_lead_to(address)]
        if not allowed:
            text = f"{wanted.host} leads to this machine or a private network, which its entry does not allow"
            raise _No("403 Forbidden", text)
        return allowed

    async def _connect(
        self, addresses: Sequence[str], wanted: _Wanted
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for address in addresses:
            with suppress(OSError):  # TimeoutError is one
                async with asyncio.timeout(self._limits.connect_seconds):
                    return await asyncio.open_connection(address, wanted.port)
        raise _No("502 Bad Gateway", f"{wanted.host}:{wanted.port} does not answer")


async def _refuse(refused: _No, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say no, and hear the other side out: closed with something unread, the answer could be lost."""
    writer.write(refused.answer)
    with suppress(OSError):  # TimeoutError is one
        writer.write_eof()
        async with asyncio.timeout(LINGER_SECONDS):
            while await reader.read(PUMP_BYTES):
                pass


def _read(head: bytes) -> _Wanted | None:
    """A request, if it is one of the two we know and plainly so."""
    try:
        line, *fields = head.decode("ascii").removesuffix("\r\n\r\n").split("\r\n")
    except UnicodeDecodeError:
        return None
    asked = _LINE.fullmatch(line)
    parts = [_FIELD.fullmatch(field) for field in fields]
    if not asked or not all(parts):
        return None
    headers = [(found[1], found[2]) for found in parts if found]
    if asked[1] == "CONNECT":
        target = target_of(asked[2])
        return _Wanted(*target) if target else None
    return _read_plain(asked[1], asked[2], headers)


def _read_plain(method: str, url: str, headers: list[tuple[str, str]]) -> _Wanted | None:
    found = _PLAIN_URL.fullmatch(url)
    target = target_of(found[1], 80) if found else None
    has_body = any(name.lower() in ("content-length", "transfer-encoding") for name, _ in headers)
    if method not in ("GET", "HEAD") or not found or not target or has_body:
        return None
    dropped = ("host", "connection", "keep-alive", "te", "upgrade")
    kept = [(name, text) for name, text in headers if name.lower() not in dropped]
    kept = [(name, text) for name, text in kept if not name.lower().startswith("proxy-")]
    lines = [f"{method} {found[2] or '/'} HTTP/1.1", f"Host: {found[1]}", "Connection: close"]
    lines += [f"{name}: {text}" for name, text in kept]
    return _Wanted(*target, head="\r\n".join([*lines, "", ""]).encode("ascii"))
