"""Running the proofs, and telling of them."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.engine.settings import Settings, load
from interlock.model.errors import InterlockError
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.prove.landing import (
    attack_blocked,
    claim_race,
    conflict_avoided,
    crash_resumed,
    overlap_seen,
    semantic_conflict,
    stale_worker_fenced,
    workspace_archived,
)
from interlock.ui.cli.prove.learning import clutch_opens, lesson_reaches_the_next, provider_brakes
from interlock.ui.cli.prove.stage import NotSeen, ProofRepository, Scratch, Seen, close_left, new_scratch
from interlock.ui.words.facts import line


class Outcome(StrEnum):
    """The result of a proof."""

    FIRED = "fired"
    FAILED = "failed"
    """The mechanism was triggered and did not do its job."""
    UNBUILT = "not built"


@dataclass(frozen=True, slots=True)
class Proof:
    """One mechanism, and how to make it fire in a repository made for the purpose."""

    name: str
    ids: str
    """The mission ids that it serves."""
    act: Callable[[ProofRepository], Awaitable[Seen]]


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the report."""

    name: str
    ids: str
    outcome: Outcome
    text: str
    facts: list[str] = field(default_factory=list)
    """The facts that show it, as `position kind: what`."""
    seconds: float = 0.0
    repository: str = ""
    """The folder it ran in, if that was kept."""


AT_ONCE = 2
"""Proofs under way together: each starts several processes of its own."""

FACT_CHARS = 140

PROOFS = (
    Proof("claim race", "W1 T3", claim_race),
    Proof("conflict avoided", "K4 W2", conflict_avoided),
    Proof("overlap seen by the radar", "D2 A17", overlap_seen),
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
    for task in running:
        task.cancel()
    await asyncio.wait(running)


async def _run(proof: Proof, scratch: Scratch, settings: Settings, turns: asyncio.Semaphore) -> Result:
    async with turns:
        stage = ProofRepository(scratch.folder / proof.name.replace(" ", "-"), settings, scratch.mark)
        began = time.monotonic()
        try:
            seen, outcome = await proof.act(stage), Outcome.FIRED
        except (NotSeen, InterlockError, OSError) as problem:
            seen, outcome = Seen(str(problem)), Outcome.FAILED
        finally:
            await stage.clear()
        seconds = time.monotonic() - began
        facts = [" ".join(line(row).split())[:FACT_CHARS] for row in seen.rows]
        return Result(proof.name, proof.ids, outcome, seen.text, facts, seconds, str(stage.root))


COLORS = {Outcome.FIRED: "green", Outcome.FAILED: "red", Outcome.UNBUILT: "yellow"}
WIDTH = 28


async def tell_proofs(invocation: Invocation, keep: bool) -> int:
    began = time.monotonic()
    results: list[Result] = []
    _end_as_with_ctrl_c()
    async with aclosing(prove(load(invocation.project, {}).settings, keep)) as proofs:
        async for result in proofs:
            results.append(result)
            if not invocation.wants_json():
                for text in _result_lines(result):
                    say(text)
    failed = [result for result in results if result.outcome is Outcome.FAILED]
    seconds = time.monotonic() - began
    if invocation.wants_json():
        say_json({"ok": not failed, "seconds": seconds, "proofs": results})
    else:
        fired = sum(result.outcome is Outcome.FIRED for result in results)
        unbuilt = sum(result.outcome is Outcome.UNBUILT for result in results)
        say("")
        say(f"{fired} fired, {len(failed)} did not, {unbuilt} not built yet; {seconds:.0f} s")
    if failed or keep:
        for result in failed if failed else results:
            if result.repository:
                note(f"to inspect: interlock --project {result.repository} events")
    return ExitCode.FAILED if failed else ExitCode.OK


def _end_as_with_ctrl_c() -> None:
    """Treat SIGTERM and SIGHUP like Ctrl-C: proofs have processes to end and folders to remove first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, signal.raise_signal, signal.SIGINT)


def _result_lines(result: Result) -> list[str]:
    mark = paint(f"{result.outcome.value:9}", COLORS[result.outcome])
    time_taken = f" ({result.seconds:.1f} s)" if result.seconds else ""
    return [
        f"{mark} {result.name:{WIDTH}} {result.text}{time_taken}",
        *(f"            {fact}" for fact in result.facts),
    ]
