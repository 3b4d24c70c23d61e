"""The connections of the server: how many, how long each may be silent, and which one ends if all are taken.

1. One that brings no whole request in time, or does not take its answer, is ended.
2. If all are taken, the oldest ends that has never brought a valid token of a person, so that no stranger
   keeps others out. Then the one that has been silent the longest.
3. A connection whose request is being answered ends only if it has brought no token.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from aiohttp import web

MOST_CONNECTIONS = 600
FIRST_REQUEST_SECONDS = 10.0
SILENT_SECONDS = 75.0
"""Between an answer and the next request. Browsers keep a connection for about as long."""
HANDSHAKE_SECONDS = 10.0
_LOOK_SECONDS = 1.0


class Connections:
    """Those of one server."""

    def __init__(self, make: Callable[[], asyncio.Protocol]) -> None:
        self._make = make
        self._open: dict[Connection, None] = {}
        """The oldest first."""

    def accept(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        return Connection(self, self._make())

    def made(self, connection: "Connection") -> None:
        if len(self._open) >= MOST_CONNECTIONS:
            self._make_room()
        self._open[connection] = None

    def lost(self, connection: "Connection") -> None:
        self._open.pop(connection, None)

    async def watch(self) -> None:
        """End silent connections until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            for each in [each for each in self._open if each.is_too_silent(now)]:
                each.end()

    def _make_room(self) -> None:
        strangers = (each for each in self._open if not each.is_known)
        silent = (each for each in self._open if each.silent_since is not None)
        victim = next(strangers, None) or min(silent, key=lambda each: each.silent_since or 0.0, default=None)
        if victim:
            victim.end()


class Connection(asyncio.Protocol):
    """One connection, around the protocol of the library."""

    def __init__(self, group: Connections, inner: asyncio.Protocol) -> None:
        self._group, self._inner = group, inner
        self._transport: asyncio.Transport | None = None
        self.silent_since: float | None = time.monotonic()
        """None while a request is being answered."""
        self.has_asked = False
        self.is_known = False
        """True after a request with a valid token or cookie of a person."""

    def is_too_silent(self, now: float) -> bool:
        most = SILENT_SECONDS if self.has_asked else FIRST_REQUEST_SECONDS
        return self.silent_since is not None and now - self.silent_since > most

    def end(self) -> None:
        """Without waiting for what is still to be sent."""
        self._group.lost(self)
        if self._transport:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # of a stream, as the server makes them
        self._group.made(self)
        self._inner.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._group.lost(self)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def connection_of(request: "web.Request") -> Connection | None:
    """The connection of a request; None if it is over."""
    found = request.transport.get_protocol() if request.transport else None
    return found if isinstance(found, Connection) else None


@asynccontextmanager
async def answering(request: "web.Request") -> AsyncIterator[None]:
    """Its connection is not silent while the block runs."""
    connection = connection_of(request)
    if connection:
        connection.silent_since, connection.has_asked = None, True
    try:
        yield
    finally:
        if connection:
            connection.silent_since = time.monotonic()
