"""The way by which hooks inside a sandbox ask the commands outside: one line of JSON each way."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from interlock.model.moment import Moment
from interlock.model.sandbox import Door
from interlock.run.proxy.sockets import socket_path

QUESTION_BYTES = 4 << 20
"""A tool's input may be a whole file."""
RELAY = Path(__file__).parent / "relay.py"

Respond = Callable[[bytes], Awaitable[bytes]]


@asynccontextmanager
async def open_door(folder: Path, respond: Respond) -> AsyncIterator[str]:
    """A unix socket where each connection asks one question; its path."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, ValueError):  # ValueError: a line that has no end
                writer.write(await respond(await reader.readline()) + b"\n")
                await writer.drain()
        finally:
            writer.close()

    with socket_path(folder, "h", os.environ) as path:
        server = await asyncio.start_unix_server(serve, path, limit=QUESTION_BYTES)
        path.chmod(0o600)
        try:
            yield str(path)
        finally:
            server.close()


def relays(moments: Sequence[Moment], doors: Sequence[Door]) -> dict[str, tuple[str, ...]]:
    """The commands by which an agent program asks us from inside its sandbox; none without a way out."""
    python = (str(Path(sys.executable).resolve()), "-I", "-S", "-E", "-B", str(RELAY))
    return {moment.value: (*python, str(door.port)) for moment in moments for door in doors}
