"""The ways a model server fails. Each writes its own broken answer, or none."""

import asyncio

from aiohttp import web

from tests.agents.model_server.protocols.wire import Wire

GARBAGE = b"<html><body>This is a proxy's login page, not a model.</body></html>"
MESSAGES = {
    400: "The scripted server does not like this request.",
    401: "Incorrect API key provided: the scripted server does not know it.",
    403: "The scripted server forbids this.",
    404: "The scripted server has no such model.",
    429: "The scripted server is asked too often.",
    500: "The scripted server broke.",
    503: "The scripted server is not ready.",
    529: "The scripted server is overloaded.",
}


def refusal(status: int, wire: Wire) -> web.Response:
    """An error status with the body this protocol gives it."""
    headers = {"retry-after": "1"} if status in (429, 503, 529) else {}
    return web.json_response(wire.error(status, MESSAGES[status]), status=status, headers=headers)


def broken_body(fault: str, wire: Wire, streaming: bool) -> web.Response:
    """A success that is none: nothing at all, or something that is not the protocol."""
    if fault == "empty":
        return web.Response(content_type=wire.stream_type if streaming else "application/json")
    return web.Response(body=GARBAGE, content_type="text/html")


async def cut(request: web.Request, frames: list[bytes], content_type: str) -> web.StreamResponse:
    """The first half of an answer."""
    response = await _started(request, content_type, length=sum(map(len, frames)))
    for frame in frames[: max(1, len(frames) // 2)]:
        await response.write(frame)
    return response


async def drop(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """The connection ends in the middle, without a word."""
    if request.transport is not None:
        request.transport.close()
    return response


async def hang(closing: asyncio.Event) -> None:
    """Nothing more comes, until the server itself ends."""
    await closing.wait()


async def stream(
    request: web.Request, frames: list[bytes], content_type: str, pause_seconds: float = 0.0
) -> web.StreamResponse:
    """A whole answer in pieces, with a pause after each when the server is slow."""
    response = await _started(request, content_type)
    for frame in frames:
        await response.write(frame)
        if pause_seconds:
            await asyncio.sleep(pause_seconds)
    await response.write_eof()
    return response


async def _started(request: web.Request, content_type: str, length: int | None = None) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": content_type, "cache-control": "no-cache"})
    if content_type == "application/json":
        response.content_length = length
    await response.prepare(request)
    return response
