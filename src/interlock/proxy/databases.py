"""The way from a sandbox to one database of a Postgres server.

1. A connection is passed on if it asks for this database as its owner, and for nothing else. A server may
   trust everybody on its socket, so the password alone would not keep a program out of other databases.
2. Requests to cancel a query name no database, so they are not passed on.
"""

import asyncio
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from interlock.proxy.pumping import Wires, both_ways
from interlock.proxy.sockets import socket_path

FIRST_BYTES = 10_000
"""The server takes no longer first message."""
FIRST_SECONDS = 10.0
VERSION_3 = 3
ASKS_FOR_TLS = (80877103, 80877104)
CONNECTIONS = 64


class Target(NamedTuple):
    """The one database that connections may lead to."""

    database: str
    host: str
    port: int
    socket: str = ""
    """The server's unix socket, in place of host and port."""


@asynccontextmanager
async def database_socket(folder: Path, target: Target) -> AsyncIterator[str]:
    """Serve a unix socket that leads to the database; its path. Leaving it cuts every connection."""
    listener = _Listener(target)
    with socket_path(folder, "d", os.environ) as path:
        server = await asyncio.start_unix_server(listener.serve, path)
        path.chmod(0o600)
        try:
            yield str(path)
        finally:
            server.close()
            await listener.stop()


class _Listener:
    """Serves the connections of one program."""

    def __init__(self, target: Target) -> None:
        self._target = target
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
            await self._answer((reader, writer))
        except (OSError, EOFError):
            pass  # Either side is gone, or sent nonsense; there is no reader to tell.
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, near: Wires) -> None:
        if len(self._tasks) > CONNECTIONS:
            near[1].write(refusal("53300", "too many connections at once"))
            return
        async with asyncio.timeout(FIRST_SECONDS):
            first = await _first_message(near)
        if not may_pass(first, self._target.database):
            words = (
                f'only the database "{self._target.database}" can be reached here, as the role of that name'
            )
            near[1].write(refusal("28000", words))
            return
        far = await self._connect()
        try:
            far[1].write(first)
            await both_ways(near, far)
        finally:
            far[1].close()

    async def _connect(self) -> Wires:
        if self._target.socket:
            return await asyncio.open_unix_connection(self._target.socket)
        return await asyncio.open_connection(self._target.host, self._target.port)


async def _first_message(near: Wires) -> bytes:
    """Read the message that says what the program wants. Before that it may ask for TLS, which it gets none
    of: the connection stays on this machine."""
    for _ in range(len(ASKS_FOR_TLS) + 1):
        head = await near[0].readexactly(8)
        length, code = struct.unpack("!II", head)
        if not 8 <= length <= FIRST_BYTES:
            raise EOFError
        body = await near[0].readexactly(length - 8)
        if code not in ASKS_FOR_TLS:
            return head + body
        near[1].write(b"N")
    raise EOFError


def may_pass(first: bytes, database: str) -> bool:
    """Tell if a first message asks for this database as the role of that name, and for no replication."""
    if struct.unpack("!I", first[4:8])[0] >> 16 != VERSION_3:
        return False
    words = first[8:-1].split(b"\0")[:-1]
    asked = dict(zip(words[::2], words[1::2], strict=False))
    wanted, known = database.encode(), len(words) == 2 * len(asked)  # no name stands twice
    user = asked.get(b"user")
    return known and user == wanted and asked.get(b"database", user) == wanted and b"replication" not in asked


def refusal(code: str, words: str) -> bytes:
    """Build the message of a server that refuses a connection."""
    fields = (("S", "FATAL"), ("V", "FATAL"), ("C", code), ("M", f"interlock: {words}"))
    body = b"".join(f"{name}{text}".encode() + b"\0" for name, text in fields) + b"\0"
    return b"E" + struct.pack("!I", 4 + len(body)) + body
