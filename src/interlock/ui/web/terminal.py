"""The output of an attempt as it comes, for a terminal in a page that only shows.

Of what a terminal obeys only colours are left: an agent's output moves no cursor and opens no link.
"""

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.ui.attempt_ranges import MOST_BYTES, read_part
from interlock.ui.plain import CONTROL
from interlock.ui.queries.attempts import AttemptStory, attempt_of, is_at_work
from interlock.ui.web.route import Ask
from interlock.ui.web.scopes import Refused
from interlock.ui.web.task_reads import Attempt, Found, Short, found, log_path, wanted_attempt

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse, WebSocketResponse

SHOWN_BEFORE_BYTES = 32 * 1024
POLL_SECONDS = 0.2
"""Files give no sign of growing."""
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,40}m")


@dataclass(frozen=True, slots=True)
class OfTerminal:
    """An attempt of a task."""

    id: Short
    attempt: Attempt | None = None
    """The newest without it."""


class NoWebSocket(Refused):
    """The request is an ordinary one."""

    code = "upgrade-required"
    status = 426


def coloured(text: str) -> str:
    """The text with nothing that a terminal would obey but colours."""
    return CONTROL.sub(lambda found: found[0] if _COLOUR.fullmatch(found[0]) else "", text)


async def terminal(ask: Ask, request: "Request") -> "StreamResponse":
    from aiohttp.web import WebSocketResponse

    known = await found(ask)
    story = attempt_of(known.task, known.stories, wanted_attempt(ask))
    socket = WebSocketResponse(heartbeat=30.0, max_msg_size=1024)
    if not socket.can_prepare(request).ok:
        raise NoWebSocket("this route is a WebSocket")
    with ask.site.streaming(ask.caller):
        await _show(ask, known, story, socket, request)
    return socket


async def _show(
    ask: Ask, known: Found, story: AttemptStory, socket: "WebSocketResponse", request: "Request"
) -> None:
    await socket.prepare(request)
    path, state = log_path(ask, known.task, story, "raw"), ask.served.log.state_dir
    listener = asyncio.create_task(_until_closed(socket))
    try:
        offset = -SHOWN_BEFORE_BYTES
        while not listener.done() and time.time() < ask.caller.until:
            at_work = is_at_work(ask.served.state.tasks.get(known.task.spec.id, known.task), story)
            part = read_part(path, state, offset, MOST_BYTES)
            if part.text:
                await socket.send_str(coloured(part.text).replace("\n", "\r\n"))
            elif not at_work:
                break
            else:
                await asyncio.wait([listener], timeout=POLL_SECONDS)
                await ask.served.catch_up()
            offset = part.next
        await socket.close()
    finally:
        listener.cancel()


async def _until_closed(socket: "WebSocketResponse") -> None:
    """Read what the page sends, which means nothing, until it goes."""
    async for _ in socket:
        pass
