"""Runs a check once more that is red with a change and passed on main: one that passes then is flaky.

1. One command, alone, on the same files. Never all of them: with many checks one would fail each time.
2. A check that timed out, hung or could not run is not repeated, nor one that edited files or lost tests.
3. An earlier red result on the same files counts as the first run.
"""

from collections.abc import Sequence
from dataclasses import replace

from interlock.engine.env import Env
from interlock.engine.known import never, run_known
from interlock.engine.turn import Turn
from interlock.events.facts import CheckFlaked
from interlock.model.outcome import CheckResult
from interlock.train import Verdict
from interlock.verify.protocol import CheckOrder


async def passed_again(
    env: Env, turn: Turn, order: CheckOrder, results: Sequence[CheckResult], verdict: Verdict
) -> dict[str, CheckResult]:
    """Run the red checks of a verdict again; return the results of those that pass now."""
    found = {}
    held = {red.command for red in verdict.red}
    for number, red in enumerate(results, start=1):
        if red.command not in held or not _may_be_flaky(turn, red):
            continue
        alone = replace(order, name=f"{order.name}-again-{number}", commands=(red.command,))
        (again,) = await run_known(env, alone, never)
        if _is_green(again):
            found[red.command] = again
            await turn.note([_fact(turn, red, again)])
    return found


async def note_flaky(turn: Turn, results: Sequence[CheckResult]) -> None:
    """Record the checks that pass where they failed before (rule 3)."""
    for result in results:
        if _is_green(result) and not result.reused and (red := turn.checks.was_red(result)):
            await turn.note([_fact(turn, red, result)])


def _is_green(result: CheckResult) -> bool:
    """False also for a check that counts failed tests and exits with 0."""
    return result.passed and not (result.suite and result.suite.failed_count)


def _may_be_flaky(turn: Turn, red: CheckResult) -> bool:
    if red.passed or red.timed_out or red.unable or red.usual_seconds or red.edited:
        return False
    before = turn.checks.on_main_last(red.command)
    return before is not None and before.passed and turn.checks.was_red(red) is None


def _fact(turn: Turn, red: CheckResult, again: CheckResult) -> CheckFlaked:
    return CheckFlaked(
        turn.task.spec.id, turn.attempt, red.command, again.saw, again.environment, red.log, again.log
    )
