"""Serves tools over HTTP on a unix socket that an attempt's sandbox reaches through a forwarded port.

1. The library is loaded at the first connection: most programs never open one.
2. Every request needs the token of the attempt. Where attempts share the network of the machine, others can
   reach the port.
"""

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.ui.mcp.tools import Tool

if TYPE_CHECKING:  # both take long to import
    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

WAITING_MOST = 16
CLOSE_SECONDS = 1


@asynccontextmanager
async def serving(tools: Sequence[Tool], instructions: str, path: Path, token: str) -> AsyncIterator[None]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(WAITING_MOST)
        listener.setblocking(False)
        served = asyncio.create_task(_serve(listener, tools, instructions, token))
        try:
            yield
        finally:
            served.cancel()
            await asyncio.wait([served])


async def _serve(listener: socket.socket, tools: Sequence[Tool], instructions: str, token: str) -> None:
    await _first_caller(listener)
    server = await asyncio.to_thread(_make, tools, instructions, token)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(running)
    finally:
        server.should_exit = True
        await asyncio.wait([running])


async def _first_caller(listener: socket.socket) -> None:
    """Wait until there is a connection to accept, and leave it in the queue."""
    loop, called = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listener, called.set)
    try:
        await called.wait()
    finally:
        loop.remove_reader(listener)


def _make(tools: Sequence[Tool], instructions: str, token: str) -> "uvicorn.Server":
    import uvicorn

    from interlock.ui.mcp.server import make_server

    class Server(uvicorn.Server):
        """Leaves the signals to the engine."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    app = make_server(tools, instructions).streamable_http_app(json_response=True, stateless_http=True)
    guarded = _guarded(app, token)
    # What the libraries log would end up in the view of the run.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        guarded,
        log_config=None,
        log_level=logging.CRITICAL,
        lifespan="on",
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    return Server(config)


def _guarded(app: "ASGIApp", token: str) -> "ASGIApp":
    """Refuse requests without the token."""
    expected = f"Bearer {token}".encode()

    async def guarded(scope: "Scope", receive: "Receive", send: "Send") -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] != "http" or secrets.compare_digest(given, expected):
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    return guarded
