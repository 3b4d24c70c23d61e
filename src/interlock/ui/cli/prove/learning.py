"""Proofs of learning: limits that open and close, lessons that reach the next attempt."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from interlock.events import facts as f
from interlock.ui.cli.prove.stage import ProofRepository, Seen, need, shell

REFUSALS = 3


async def clutch_opens(stage: ProofRepository) -> Seen:
    """An unknown kind of work starts with one agent, and gets more as tasks land without trouble."""
    agent = shell('sleep 0.3; echo done > "$INTERLOCK_TASK_ID.txt"')
    await stage.make(agent, {f"t{number}": "goal: Write a file" for number in range(7)}, ", category: docs")
    await stage.land("--max-parallel", "auto")
    decided = [(row, fact) for row, fact in await stage.facts(f.ClutchDecided) if fact.category == "docs"]
    limits = [fact.limit for _, fact in decided]
    need(limits[:2] == [1, 2], f"the limits were {limits}: not from one agent up")
    text = f"nothing known: 1 agent; up to {max(limits)} as they landed without trouble"
    return Seen(text, tuple(row for row, _ in decided[:3]))


async def provider_brakes(stage: ProofRepository) -> Seen:
    """A model server that sends 429s: everyone waits as long as it asks, and all work lands."""
    refusals = [0]
    async with _model(refusals) as port:
        agent = f'{{use: built-in, url: "http://127.0.0.1:{port}/v1", model: proof}}'
        await stage.make(agent, {f"t{number}": "goal: Write a file" for number in range(4)})
        await stage.land("--max-parallel", "4")
    braked = await stage.facts(f.ProviderBraked)
    failed = await stage.facts(f.PhaseFailed)
    need(refusals[0] >= 1, "the server was not asked")
    need(any(fact.refused for _, fact in braked), "no brake was put on after a 429")
    need(not failed, f"{len(failed)} attempts were lost to it")
    text = f"{refusals[0]} refusals by a model server: the brake closed, no attempt was lost, 4 of 4 landed"
    return Seen(text, tuple(row for row, fact in braked if fact.refused)[:2])


@asynccontextmanager
async def _model(refusals: list[int]) -> AsyncIterator[int]:
    """A server that turns the first calls away, then has each agent write a file and stop."""
    from aiohttp import web

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        if refusals[0] < REFUSALS:
            refusals[0] += 1
            return web.json_response(
                {"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "1"}
            )
        await asyncio.sleep(0.05)
        is_first = not any(message["role"] == "tool" for message in body["messages"])
        said = {"message": _CALL, "finish_reason": "tool_calls"} if is_first else _DONE
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return web.json_response({"object": "chat.completion", "choices": [said], "usage": usage})

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


_COMMAND = json.dumps({"command": 'echo done > "$INTERLOCK_TASK_ID.txt"'})
_CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": _COMMAND}}],
}
_DONE = {"message": {"role": "assistant", "content": "Written."}, "finish_reason": "stop"}


async def lesson_reaches_the_next(stage: ProofRepository) -> Seen:
    """A lesson from one task reaches another task before it fails."""
    # The first attempt at each task fails unless its prompt carries what the first task's landing showed.
    agent = shell(
        'if grep -q "SPDX" "$INTERLOCK_PROMPT_FILE"; then echo "SPDX: ok" > "$INTERLOCK_TASK_ID.txt";'
        ' else echo "no header" > "$INTERLOCK_TASK_ID.txt"; fi'
    )
    check = 'for file in *.txt; do grep -q SPDX "$file" || { echo "missing SPDX header"; exit 1; }; done\n'
    later = {f"then{number}": "goal: Write a file, needs: [first]" for number in range(3)}
    await stage.make(
        agent,
        {"first": "goal: Write a file", **later},
        ", category: docs, verify: 'sh ./check'",
        {"check": check, "start.txt": "SPDX: ok\n"},
    )
    await stage.land("--max-parallel", "1")
    learned, offered = await stage.facts(f.LessonLearned), await stage.facts(f.LessonsOffered)
    told = [(row, fact) for row, fact in offered if fact.offered and fact.attempt == 1]
    need(learned and told, f"{len(learned)} lessons learned, given to {len(told)} first attempts")
    failed = {(fact.task, fact.attempt) for _, fact in await stage.facts(f.PhaseFailed)}
    need(not any((fact.task, 1) in failed for _, fact in told), "an attempt with the lesson failed its check")
    text = f"a task failed its check and found out why; {len(told)} later ones got the lesson and landed"
    return Seen(text, (learned[0][0], told[0][0]))
