"""Counts of calls under way: on disk before the program has the piece that says them."""

import asyncio
import json

from aiohttp import web

from interlock.proxy import counts_beside
from tests.proxy.stage import ANTHROPIC, CHAT, Line, Setting, upstream

BEGUN = {"type": "message_start", "message": {"model": "claude-x", "usage": {"input_tokens": 7}}}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}


def counts_of(line: Line) -> list[str]:
    return counts_beside(line.transcript).read_text().splitlines()


def last_count(line: Line) -> tuple[str, int, int]:
    """What would be left if this process died now."""
    *_, text = counts_of(line)
    count = json.loads(text)
    return count["model"], count["usage"]["input_tokens"], count["usage"]["output_tokens"]


def test_a_piece_is_counted_before_the_program_has_it(setting: Setting) -> None:
    goes_on = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for event in (BEGUN, ENDED):
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
            await goes_on.wait()
            goes_on.clear()
        return response

    async def story() -> None:
        async with upstream(answer) as url, setting.line(ANTHROPIC.wire, url) as line:
            path, body = ANTHROPIC.asked(stream=True)
            sent = line.session.post(
                f"http://127.0.0.1{path}", json=body, headers={"x-api-key": line.endpoint.token}
            )
            async with sent as heard:
                await heard.content.readuntil(b"\n\n")
                assert last_count(line) == ("claude-x", 7, 0)
                goes_on.set()
                await heard.content.readuntil(b"\n\n")
                assert last_count(line) == ("claude-x", 7, 5)
                assert not line.transcript.exists(), "the call has not ended"
                goes_on.set()
                await heard.read()
            (entry,) = line.entries()
            (call,) = {json.loads(text)["call"] for text in counts_of(line)}
            assert entry["call"] == call

    asyncio.run(story())


def test_the_last_piece_of_a_whole_answer_waits_for_its_count(setting: Setting) -> None:
    body = {"model": "gpt-x", "choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}
    told = json.dumps(body).encode()
    ends = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "application/json"})
        await response.prepare(request)
        await response.write(told)
        await ends.wait()
        return response

    async def story() -> None:
        async with upstream(answer) as url, setting.line(CHAT.wire, url) as line:
            asked = asyncio.create_task(line.ask(CHAT))
            while not counts_beside(line.transcript).exists():  # noqa: ASYNC110 - a file, not an event
                await asyncio.sleep(0.005)
            ends.set()
            assert (await asked).body == told
            assert last_count(line) == ("gpt-x", 9, 0)

    asyncio.run(story())
