"""Judges the checks of a change against those of main, and builds what agents and people read about it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interlock.engine.baseline import Trial, tried_on_main
from interlock.engine.canary import check_order
from interlock.engine.env import Env
from interlock.engine.flakes import note_flaky, passed_again
from interlock.engine.known import seen_by
from interlock.engine.quote import quoted
from interlock.engine.turn import KnownChecks, Turn
from interlock.events import facts as f
from interlock.events.task_parts import Work
from interlock.git.protocol import DIFF_BYTES
from interlock.model.evidence import change_checks
from interlock.model.failure import fingerprint
from interlock.model.outcome import CheckResult, ErrorClass, Tip
from interlock.model.reason import Reason, Value, Why
from interlock.model.task import Commit, Task, Tree, all_inputs
from interlock.train import Verdict, check_failed, judge, refusal, retry
from interlock.verify.lost_tests import files_of_tests, lost_tests, removed_tests
from interlock.verify.protocol import CheckOrder
from interlock.verify.sources import is_source

FEEDBACK_CHARS = 8_000
"""Enough for the end of a test report; an agent reads the rest in its own run of the command."""


def commands_of(*specs: Task) -> tuple[str, ...]:
    """All checks of these tasks, each once."""
    return tuple(dict.fromkeys(command for spec in specs for command in (*spec.done_when, *spec.verify)))


def order_of(turn: Turn, tree: Tree) -> CheckOrder:
    """All checks of a task, on a tree with its change."""
    task = turn.task.spec
    name = change_checks(task.id, turn.attempt, turn.claim.epoch)
    touched = turn.task.change.work.touched if turn.task.change.work else ()
    return about(order_for(turn.checks, name, tree, [task]), touched)


def order_for(checks: KnownChecks, name: str, tree: Tree, specs: Sequence[Task]) -> CheckOrder:
    """All checks of tasks, on one tree; in the name of the last of them."""
    order = check_order(checks, name, tree, commands_of(*specs))
    seconds = max(spec.check_seconds for spec in specs)
    return replace(order, task=specs[-1].id, timeout_seconds=seconds, inputs=all_inputs(specs))


def about(order: CheckOrder, *touched: Sequence[str]) -> CheckOrder:
    """Let an order be about one change, or about several as one, by the files that each of them edits."""
    changed = tuple(dict.fromkeys(path for paths in touched for path in paths))
    watched = tuple(path for path in changed if is_source(path))
    return replace(order, watched=watched, changed=changed, names_read=len(touched) > 1)


async def verdict_of(env: Env, turn: Turn, main: Tip, results: Sequence[CheckResult], tree: Tree) -> Verdict:
    """Judge the checks of a change on main. A red one that may be flaky is run once more before it counts."""
    await note_flaky(turn, results)
    last = last_on_main(turn)
    verdict = judge(results, turn.task.spec, {}, last)
    if verdict.passed:
        return verdict
    verdict = await _judge(env, turn, main, results, last)
    if green := await passed_again(env, turn, order_of(turn, tree), results, verdict):
        results = [green.get(result.command, result) for result in results]
        verdict = await _judge(env, turn, main, results, last)
    return verdict


def last_on_main(turn: Turn) -> dict[str, CheckResult]:
    """How the checks of a task ended when they ran on main last."""
    return {c: result for c in commands_of(turn.task.spec) if (result := turn.checks.on_main_last(c))}


async def _judge(
    env: Env, turn: Turn, main: Tip, results: Sequence[CheckResult], last: Mapping[str, CheckResult]
) -> Verdict:
    """Judge the difference to main: a project check that is red is run on main itself before it counts."""
    spec, made = turn.task.spec, turn.task.change.work
    edited = {result.command: set(result.edited) for result in results}
    saw = await seen_by(env, main.tree, spec.verify, dict(spec.inputs))
    before = {c: result for c in spec.verify if (result := turn.checks.on_main(main.tree, c, saw[c]))}
    # A check may edit these files on main too: if that is not known, it runs there again.
    known = {c: result for c, result in before.items() if edited.get(c, set()) <= {*result.rewrites}}
    verdict = judge(results, spec, known, last)
    if verdict.unknown:
        known |= await _tried(env, turn, main, verdict.unknown)
        verdict = judge(results, spec, known, last)
    if verdict.red and spec.reverts and made:
        diff = await env.repository.diff(made.base, made.commit, made.touched)
        return judge(results, spec, known, last, removed_tests(diff, _not_passed(results, known)))
    return verdict


def _not_passed(results: Sequence[CheckResult], base: Mapping[str, CheckResult]) -> set[str]:
    """The tests that passed on the base and do not pass now."""
    names = set[str]()
    for result in results:
        before, now = base.get(result.command), result.suite
        if before and before.suite:
            names |= {*before.suite.passed} - {*(now.passed if now else ())}
    return names


async def _tried(env: Env, turn: Turn, main: Tip, commands: Sequence[str]) -> dict[str, CheckResult]:
    """Run checks on main of which it is not known how they end there."""
    spec, made = turn.task.spec, turn.task.change.work
    changed = made.touched if made else ()
    checks = turn.checks
    trial = Trial(
        main,
        spec.check_seconds,
        checks.environment,
        changed,
        dict(spec.inputs),
        checks.known,
        checks.has_passed,
        checks.variables,
    )
    facts = await tried_on_main(env, trial, commands)
    await turn.note(facts)
    return {fact.command: fact.result for fact in facts if isinstance(fact, f.BaseChecked) and fact.result}


async def lost_in(env: Env, made: Work, base: Commit, commit: Commit, verdict: Verdict) -> tuple[str, ...]:
    """The files of tests that a change takes something from, where no report counts these tests."""
    paths = files_of_tests(made.touched)
    counted = [bool(check.suite and check.suite.ran) for check in verdict.checks]
    if not paths or all(counted):
        return ()
    diff = await env.repository.diff(base, commit, paths)
    is_whole = len(diff.encode("utf-8", "replace")) < DIFF_BYTES
    return lost_tests(diff, paths, is_whole=is_whole, is_counted=any(counted))


def refusal_of(turn: Turn, made: Work, verdict: Verdict) -> f.Fact | None:
    """Build the fact that refuses a change; None if it may land."""
    if verdict.red:
        return _red(turn, made, verdict)
    undo = turn.task.change.undo
    if (
        verdict.blocked and undo and undo.reopens
    ):  # made because main is red, and does not help: no use in waiting
        return _red(turn, made, replace(verdict, red=verdict.blocked))
    return _blocked(turn, verdict) if verdict.blocked else None


def _blocked(turn: Turn, verdict: Verdict) -> f.Fact:
    """Put a change off that cannot be judged while main is like this."""
    first = verdict.blocked[0]
    fields: dict[str, Value] = {
        "command": first.command,
        "exit_code": first.exit_code,
        "unable": bool(first.unable),
    }
    return retry.wavered(turn.task, turn.key, Reason(Why.MAIN_IN_THE_WAY, fields))


def _red(turn: Turn, made: Work, verdict: Verdict) -> f.Fact:
    first = verdict.red[0]
    return f.PhaseFailed(
        *turn.key,
        error=ErrorClass.CHECK,
        why=check_failed(first, others=len(verdict.red) - 1),
        fingerprint=fingerprint(ErrorClass.CHECK, first.command, first.tail),
        feedback="".join(_told(red) for red in verdict.red),
        log=first.log,
        checks=verdict.checks,
        commit=made.commit,
        base=made.base,
    )


EDITED = "Run that command, and keep the files as it leaves them: what it tests must be what lands.\n"


def _told(red: CheckResult) -> str:
    # The names of tests and files, and the lines of its output, are an agent's own words.
    found = refusal(red, in_full=True) if _is_compared(red) else ""
    what = quoted(f"What `{red.command}` is refused for", found, FEEDBACK_CHARS, "start")
    what += EDITED if red.edited else ""
    # For one that hung the time is given: the next attempt shall not wait for it.
    hung = f", which {red.how}" if red.usual_seconds else ""
    return what + quoted(f"Output of `{red.command}`{hung}", red.tail, FEEDBACK_CHARS)


def _is_compared(red: CheckResult) -> bool:
    newly = red.newly_failing or red.newly_failing_count
    return bool(newly or red.vanished or red.fewer_passed or red.unlike_main or red.edited)
