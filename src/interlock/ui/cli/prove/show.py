"""Running the proofs, and telling of them."""

import asyncio
import time
from collections.abc import AsyncGenerator

from interlock.engine.settings import Settings
from interlock.model.errors import InterlockError
from interlock.ui.cli.prove.guard import attack_blocked
from interlock.ui.cli.prove.landing import (
    claim_race,
    conflict_avoided,
    crash_resumed,
    semantic_conflict,
    stale_worker_fenced,
    workspace_archived,
)
from interlock.ui.cli.prove.learning import clutch_opens, lesson_reaches_the_next, provider_brakes
from interlock.ui.cli.prove.proof import NotSeen, Outcome, Proof, Result, Seen
from interlock.ui.cli.prove.scratch import Scratch, close_left, new_scratch
from interlock.ui.cli.prove.stage import ProofRepository, TookTooLong
from interlock.ui.words.facts import line

AT_ONCE = 2
"""Proofs under way together: each starts several processes of its own."""

FACT_CHARS = 140

PROOFS = (
    Proof("claim race", "W1 T3", claim_race),
    Proof("conflict avoided", "K4 W2", conflict_avoided),
    Proof("semantic conflict caught", "W12 D7", semantic_conflict),
    Proof("crash resumed", "W5", crash_resumed),
    Proof("stale worker fenced", "D4", stale_worker_fenced),
    Proof("clutch opening", "K1 K2 K3 K6", clutch_opens),
    Proof("clutch braking", "K7 W11", provider_brakes),
    Proof("lesson handed on", "K5", lesson_reaches_the_next),
    Proof("sandbox attack blocked", "D11", attack_blocked),
    Proof("workspace archived", "D10", workspace_archived),
)

UNBUILT = {
    "merge train with lanes and bisection": "D1",
    "conflict radar": "D2",
    "red-main reactor": "D8",
    "failover and budgets": "A7 A9",
    "approval gates": "A14",
    "several machines": "A20",
}
"""Mechanisms that the mission names and the code does not have yet."""


async def prove(settings: Settings, keep: bool) -> AsyncGenerator[Result, None]:
    """Every proof as it ends, then what there is nothing to prove about."""
    close_left()
    scratch, turns = new_scratch(), asyncio.Semaphore(AT_ONCE)
    running = [asyncio.create_task(_run(proof, scratch, settings, turns)) for proof in PROOFS]
    results = []
    try:
        for ended in asyncio.as_completed(running):
            results.append(await ended)
            yield results[-1]
    finally:
        await _stop(running)
        is_over = len(results) == len(PROOFS)
        failed = any(result.outcome is Outcome.FAILED for result in results)
        scratch.close(keep or (is_over and failed))
    for name, ids in UNBUILT.items():
        yield Result(name, ids, Outcome.UNBUILT, "nothing to show yet")


async def _stop(running: list[asyncio.Task[Result]]) -> None:
    """Cancel the proofs that still run; they clean up after themselves."""
    for task in running:
        task.cancel()
    await asyncio.wait(running)


async def _run(proof: Proof, scratch: Scratch, settings: Settings, turns: asyncio.Semaphore) -> Result:
    async with turns:
        stage = ProofRepository(scratch.folder / proof.name.replace(" ", "-"), settings, scratch.mark)
        began = time.monotonic()
        try:
            seen, outcome = await proof.act(stage), Outcome.FIRED
        except (NotSeen, TookTooLong, InterlockError, OSError) as problem:
            seen, outcome = Seen(str(problem)), Outcome.FAILED
        finally:
            await stage.clear()
        seconds = time.monotonic() - began
        facts = [" ".join(line(row).split())[:FACT_CHARS] for row in seen.rows]
        return Result(proof.name, proof.ids, outcome, seen.text, facts, seconds, str(stage.root))
