"""Where the server listens, and the file by which others find it."""

import json
import os
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.run.attempt_token import FOLDER

FILE = "server.json"
LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost", "[::1]")
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a person wants it to listen."""

    host: str = LOOPBACK
    port: int = 0
    """0: the one that it had before, or a free one."""
    allow_hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A server that may be running."""

    url: str
    pid: int
    keys: Path
    """The state folder whose secret it uses."""


def tls_of(wanted: Wanted) -> ssl.SSLContext | None:
    """The certificate to answer with. Without one, only this machine may ask."""
    if bool(wanted.certificate) != bool(wanted.key):
        raise UsageError("a certificate needs its key", "give both --tls-cert and --tls-key")
    if wanted.certificate is None:
        if not is_loopback(wanted.host):
            raise UsageError(
                f"{wanted.host} can be reached from other machines, so it needs TLS",
                "give --tls-cert and --tls-key; or keep 127.0.0.1, and use ssh -L from the other machine",
            )
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(wanted.certificate, wanted.key)
    except (OSError, ssl.SSLError) as error:
        raise EnvironmentProblem(
            f"the certificate cannot be used: {error}", "check --tls-cert, --tls-key"
        ) from None
    return context


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def bound(wanted: Wanted, state_dir: Path) -> socket.socket:
    """A socket on the address. A port that was not asked for may be another one than the last time."""
    ports = [wanted.port] if wanted.port else [*_last_port(state_dir), 0]
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    for port in ports:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((wanted.host, port))
            sock.listen(BACKLOG)
        except (OSError, OverflowError) as error:
            sock.close()
            if port == ports[-1]:
                raise EnvironmentProblem(
                    f"cannot listen on port {port} of {wanted.host}: {error}", "choose another with --port"
                ) from error
            continue
        sock.setblocking(False)
        return sock
    raise AssertionError  # the last port returns or raises


def hosts_of(wanted: Wanted, port: int) -> Sequence[str]:
    """The values of Host that mean this server."""
    host = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
    own = NAMES if is_loopback(wanted.host) else (host,)
    return [*(f"{name}:{port}" for name in own), *(_with_port(name, port) for name in wanted.allow_hosts)]


def _with_port(name: str, port: int) -> str:
    return name if ":" in name.rpartition("]")[2] else f"{name}:{port}"


def _last_port(state_dir: Path) -> list[int]:
    found = read_server(state_dir)
    port = found.url.rpartition(":")[2].strip("/") if found else ""
    return [int(port)] if port.isdecimal() and 0 < int(port) < 65536 else []


@contextmanager
def announced(state_dirs: Sequence[Path], url: str) -> Iterator[None]:
    """Let `interlock ui` find the server while the block runs; its port is remembered after that."""
    text = {"url": url, "pid": os.getpid(), "keys": str(state_dirs[0])}
    for folder in state_dirs:
        _write(folder / FOLDER / FILE, text)
    try:
        yield
    finally:
        for folder in state_dirs:
            with suppress(OSError):
                _write(folder / FOLDER / FILE, {**text, "pid": 0})


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(value))
    fresh.replace(path)


def read_server(state_dir: Path) -> Found | None:
    """The server that was announced last; whether it still runs is to be asked."""
    try:
        known = json.loads((state_dir / FOLDER / FILE).read_text())
        return Found(str(known["url"]), int(known["pid"]), Path(known["keys"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
