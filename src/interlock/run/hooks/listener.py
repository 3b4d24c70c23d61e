"""The way by which hooks inside a sandbox ask the commands outside: one line of JSON each way."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

from interlock.model.moment import Moment
from interlock.model.sandbox import ForwardedPort
from interlock.proxy.sockets import socket_path
from interlock.run.hooks.relay import MOST_BYTES

QUESTION_BYTES = MOST_BYTES
"""A tool's input may be a whole file."""
QUESTION_SECONDS = 30.0
"""Until it is asked: the relay does so at once."""
QUESTIONS_AT_ONCE = 8
"""Each may take a process, and the room for a question. Further ones wait: if they went unanswered, that
would be a way past the commands."""
RELAY = Path(__file__).parent / "relay.py"

Respond = Callable[[bytes], Awaitable[bytes]]


@asynccontextmanager
async def listen(folder: Path, respond: Respond) -> AsyncIterator[str]:
    """A unix socket where each connection asks one question; its path. What is asked when it closes is given
    up, with the commands that run for it."""
    desk = _HookListener(respond)
    with socket_path(folder, "h", os.environ) as path:
        server = await asyncio.start_unix_server(desk.greet, path, limit=QUESTION_BYTES)
        path.chmod(0o600)
        try:
            yield str(path)
        finally:
            server.close()
            await desk.close()


class _HookListener:
    """Answers the questions of one session."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._room = asyncio.Semaphore(QUESTIONS_AT_ONCE)
        self._asking: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_closed:  # it was on its way in
            writer.close()
            return
        asking = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        asking.add_done_callback(lambda _: writer.close())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # cast: the library types it as one that only writes, and a socket's does both
        transport = cast("asyncio.Transport", writer.transport)
        transport.pause_reading()
        async with self._room:
            transport.resume_reading()
            with suppress(OSError, ValueError):  # ValueError: a line that has no end
                async with asyncio.timeout(QUESTION_SECONDS):
                    question = await reader.readline()
                writer.write(await self._respond(question) + b"\n")
                await writer.drain()

    async def close(self) -> None:
        self._is_closed = True
        for asking in self._asking:
            asking.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)


def relays(moments: Sequence[Moment], forwarded_ports: Sequence[ForwardedPort]) -> dict[str, tuple[str, ...]]:
    """The commands by which an agent program asks us from inside its sandbox; none without a way out."""
    python = (str(Path(sys.executable).resolve()), "-I", "-S", "-E", "-B", str(RELAY))
    return {
        moment.value: (*python, str(forwarded.port)) for moment in moments for forwarded in forwarded_ports
    }
