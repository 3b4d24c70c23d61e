"""Server-sent events: what changed in a project, at most ten times a second for each client."""

import asyncio
import time
from typing import TYPE_CHECKING

from interlock.ui.web.feed import TICK_SECONDS, Feed
from interlock.ui.web.route import Ask
from interlock.ui.web.wire import encoded

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse

ALIVE_SECONDS = 2.0
"""A client that hears nothing for longer than this has lost the server."""
RETRY_MILLISECONDS = 1000


async def stream_changes(ask: Ask, request: "Request") -> "StreamResponse":
    """Events `change` with what changed, `alive` if nothing did, `resnapshot` if the cursor is not of this
    server: the client then asks for a snapshot and comes back."""
    feed = ask.site.feed(ask.project)
    with ask.site.streaming(ask.caller):
        return await _stream(ask, feed, request)


async def _stream(ask: Ask, feed: Feed, request: "Request") -> "StreamResponse":
    from aiohttp.web import StreamResponse

    cursor = request.headers.get("Last-Event-ID") or ask.values.after
    answer = StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
    await answer.prepare(request)
    await answer.write(b"retry: %d\n\n" % RETRY_MILLISECONDS)
    rev = feed.rev_of(cursor)
    if rev is None:
        await answer.write(_event("resnapshot", "", encoded({"seq": feed.served.state.seq})))
        return answer
    feed.watchers += 1
    try:
        await _send(answer, feed, rev, ask.caller.until)
    finally:
        feed.watchers -= 1
    return answer


async def _send(answer: "StreamResponse", feed: Feed, rev: int, until: float) -> None:
    while time.time() < until:
        if await feed.changed(rev, ALIVE_SECONDS):
            update, rev = feed.update(rev), feed.rev
            await answer.write(_event("change", feed.cursor(rev), encoded(update)))
        else:
            await answer.write(_event("alive", "", encoded(feed.alive())))
        await asyncio.sleep(TICK_SECONDS)


def _event(name: str, id: str, data: bytes) -> bytes:
    head = f"id: {id}\n" if id else ""
    return f"event: {name}\n{head}data: ".encode() + data + b"\n\n"
