"""Hosts a project allows are reached, and nothing else is, however it is written (B17)."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.errors import UsageError
from interlock.proxy import EgressProxy, ProxyLimits
from interlock.proxy.hosts import HostEntry, entry_for, hosts_of, target_of
from tests.proxy.stage import BOUND_SECONDS

OUTSIDE = "127.0.0.2"
"""Stands for the internet."""


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """Says back what it hears, until it hears the end."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(1000):
            writer.write(chunk)
        writer.close()

    server = await asyncio.start_server(answer, OUTSIDE, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def proxy(
    folder: Path,
    *hosts: str,
    names: dict[str, str] | None = None,
    limits: ProxyLimits = ProxyLimits(),  # noqa: B008 - a frozen value
) -> AsyncIterator[str]:
    async def resolve(name: str, port: int) -> Sequence[str]:
        if name not in (names or {}):
            raise OSError(f"{name} is unknown")
        return [(names or {})[name]]

    async with (
        asyncio.timeout(BOUND_SECONDS),
        EgressProxy({}, folder, limits, resolve).open("attempt", hosts) as egress,
    ):
        yield egress.socket


async def said(socket: str, request: bytes, ends: bool = True) -> bytes:
    """All that is answered to a request."""
    reader, writer = await asyncio.open_unix_connection(socket)
    writer.write(request)
    if ends:
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


def test_a_tunnel_to_an_allowed_host_carries_bytes_both_ways(tmp_path: Path) -> None:
    async def story() -> bytes:
        async with echo() as port, proxy(tmp_path, f"{OUTSIDE}:{port}") as socket:
            head = f"CONNECT {OUTSIDE}:{port} HTTP/1.1\r\nHost: {OUTSIDE}:{port}\r\n\r\n".encode()
            return await said(socket, head + b"\x16\x03\x01 anything " + b"x" * 200_000)

    answer = asyncio.run(story())
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\x16\x03\x01 anything " + b"x" * 200_000)


def test_a_plain_page_is_fetched_under_its_own_name(tmp_path: Path) -> None:
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage")
        writer.close()

    async def story() -> bytes:
        server = await asyncio.start_server(answer, OUTSIDE, 0)
        port = server.sockets[0].getsockname()[1]
        async with server, proxy(tmp_path, f"{OUTSIDE}:{port}") as socket:
            head = f"GET http://{OUTSIDE}:{port}/a?b=c HTTP/1.1\r\nHost: elsewhere\r\n"
            head += "Proxy-Authorization: Basic xyz\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
            return await said(socket, head.encode())

    assert asyncio.run(story()).endswith(b"page")
    lines = heard[0].decode().split("\r\n")
    assert lines[0] == "GET /a?b=c HTTP/1.1"
    assert lines[1].startswith(f"Host: {OUTSIDE}:")
    assert "Accept: */*" in lines
    assert "Connection: close" in lines
    assert not any("elsewhere" in line or "Proxy" in line or "keep-alive" in line for line in lines)


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("CONNECT other.example:443 HTTP/1.1", 403),
        ("CONNECT good.example:22 HTTP/1.1", 403),
        ("CONNECT good.example.evil.example:443 HTTP/1.1", 403),
        ("CONNECT xgood.example:443 HTTP/1.1", 403),
        ("CONNECT wild.example:443 HTTP/1.1", 403),
        ("CONNECT 127.0.0.1:443 HTTP/1.1", 403),
        ("CONNECT [::1]:443 HTTP/1.1", 403),
        ("CONNECT 2130706433:443 HTTP/1.1", 403),
        ("CONNECT 0x7f.1:443 HTTP/1.1", 403),
        ("CONNECT localhost:443 HTTP/1.1", 403),
        ("CONNECT good.example HTTP/1.1", 400),
        ("CONNECT good.example:0 HTTP/1.1", 400),
        ("CONNECT good.example:99999 HTTP/1.1", 400),
        ("CONNECT good.example.:443 HTTP/1.1", 400),
        ("CONNECT user@good.example:443 HTTP/1.1", 400),
        ("CONNECT evil.example\0.good.example:443 HTTP/1.1", 400),
        ("CONNECT evil.example%00.good.example:443 HTTP/1.1", 400),
        ("CONNECT good.example:443@evil.example:443 HTTP/1.1", 400),
        ("CONNECT good.example:443/x HTTP/1.1", 400),
        ("CONNECT  good.example:443 HTTP/1.1", 400),
        ("CONNECT good.exam\u0131ple:443 HTTP/1.1", 400),
        ("GET http://other.example/ HTTP/1.1", 403),
        ("GET http://user:word@good.example/ HTTP/1.1", 400),
        ("GET http://evil.example\\@good.example/ HTTP/1.1", 400),
        ("GET https://good.example/ HTTP/1.1", 400),
        ("GET /etc/passwd HTTP/1.1", 400),
        ("POST http://good.example/ HTTP/1.1", 400),
        ("GET http://good.example/ HTTP/1.1\r\nContent-Length: 3", 400),
        ("GET http://good.example/ HTTP/1.1\r\nTransfer-Encoding: chunked", 400),
        ("GET http://good.example/ HTTP/1.1\r\nbroken header", 400),
        ("GET http://good.example/ HTTP/1.1\r\nA: b\nC: d", 400),
        ("\x05\x01\x00", 400),
        ("A" * 20_000, 400),
    ],
)
def test_everything_else_is_refused_with_words(request_line: str, status: int, tmp_path: Path) -> None:
    async def story() -> bytes:
        async with proxy(tmp_path, "good.example", "*.wild.example") as socket:
            return await said(socket, request_line.encode() + b"\r\n\r\n", ends=False)

    answer = asyncio.run(story()).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    if status == 403:
        assert "allow_hosts" in answer


@pytest.mark.parametrize(
    ("entry", "name", "address"),
    [
        ("good.example:{port}", "good.example", "127.0.0.2"),
        ("*.good.example:{port}", "a.good.example", "127.0.0.2"),
        ("*.good.example:{port}", "a.good.example", "10.0.0.1"),
        ("*.good.example:{port}", "a.good.example", "::ffff:10.0.0.1"),
        ("good.example:{port}", "good.example", "169.254.169.254"),
        ("good.example:{port}", "good.example", "::ffff:127.0.0.1"),
        ("good.example:{port}", "good.example", "::"),
    ],
)
def test_a_name_that_leads_to_this_machine_or_a_neighbour_is_refused(
    entry: str, name: str, address: str, tmp_path: Path
) -> None:
    async def story() -> bytes:
        async with echo() as port, proxy(tmp_path, entry.format(port=port), names={name: address}) as socket:
            return await said(socket, f"CONNECT {name}:{port} HTTP/1.1\r\n\r\n".encode())

    answer = asyncio.run(story())
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"private network" in answer


def test_localhost_is_reached_only_if_it_is_listed(tmp_path: Path) -> None:
    async def story() -> None:
        async with echo() as port:
            request = f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode()
            async with proxy(tmp_path, f"localhost:{port}", names={"localhost": OUTSIDE}) as socket:
                assert (await said(socket, request)).startswith(b"HTTP/1.1 200 ")

    asyncio.run(story())


@pytest.mark.parametrize("name", ["lost.example", "127.0.0.3"])
def test_a_host_that_cannot_be_reached_is_a_502(name: str, tmp_path: Path) -> None:
    async def story() -> bytes:
        async with echo() as port, proxy(tmp_path, f"{name}:{port}") as socket:
            return await said(socket, f"CONNECT {name}:{port} HTTP/1.1\r\n\r\n".encode())

    assert asyncio.run(story()).startswith(b"HTTP/1.1 502 ")


def test_connections_are_bounded_and_closing_cuts_them(tmp_path: Path) -> None:
    async def story() -> None:
        async with echo() as port:
            request = f"CONNECT {OUTSIDE}:{port} HTTP/1.1\r\n\r\n".encode()
            async with proxy(tmp_path, f"{OUTSIDE}:{port}", limits=ProxyLimits(connections=2)) as socket:
                held = [await asyncio.open_unix_connection(socket) for _ in range(2)]
                for reader, writer in held:
                    writer.write(request)
                    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
                assert (await said(socket, request)).startswith(b"HTTP/1.1 503 ")
                held.pop()[1].close()
            for reader, writer in held:
                async with asyncio.timeout(BOUND_SECONDS):
                    with suppress(ConnectionError):
                        await reader.read()
                writer.close()
            assert list(tmp_path.iterdir()) == []

    asyncio.run(story())


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "*",
        "*.",
        "*.org",
        "*example.org",
        "exa mple.org",
        "https://example.org",
        "example.org:0",
        "example.org:x",
        "example.org/path",
        "user@example.org",
        "-bad.example",
        "*.127.0.0.1",
        "127.1",
        "a..b",
    ],
)
def test_an_entry_that_is_no_host_is_refused_with_an_example(entry: str) -> None:
    with pytest.raises(UsageError) as caught:
        hosts_of([entry])
    assert "example.org" in caught.value.hint


def test_entries_cover_what_they_say_and_no_more() -> None:
    hosts = hosts_of(["Example.org", "*.wild.example", "ported.example:8443", "[::1]:8080"])
    assert entry_for(hosts, "example.org", 443)
    assert entry_for(hosts, "example.org", 80)
    assert not entry_for(hosts, "example.org", 8080)
    assert not entry_for(hosts, "www.example.org", 443)
    assert entry_for(hosts, "a.b.wild.example", 443)
    assert not entry_for(hosts, "wild.example", 443)
    assert not entry_for(hosts, "notwild.example", 443)
    assert entry_for(hosts, "ported.example", 8443)
    assert not entry_for(hosts, "ported.example", 443)
    assert entry_for(hosts, "[::1]", 8080)


def test_a_full_name_with_its_port_may_lead_into_a_private_network() -> None:
    inside = ipaddress.ip_address("10.1.2.3")
    assert HostEntry("mirror.example", 8080).may_lead_to(inside)
    assert not HostEntry("mirror.example").may_lead_to(inside)
    assert HostEntry("mirror.example").may_lead_to(ipaddress.ip_address("1.1.1.1"))


@pytest.mark.property
@given(st.text(max_size=30))
def test_a_target_is_a_plain_host_and_port_or_nothing(text: str) -> None:
    target = target_of(text)
    assert target is None or f"{target[0]}:{target[1]}".isascii()
    assert target is None or not set(target[0]) - set("abcdefghijklmnopqrstuvwxyz0123456789.-:[]")
