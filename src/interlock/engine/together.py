"""Names the landed change that a change fails together with, where each passes without the other.

1. No check runs for it. A result counts only if it is known: of an earlier attempt, a build, or an earlier
   check of the same change.
2. The check must pass on main, which has the other change, and for this change on a main without that one.
3. If the second is not known, or a commit of another hand may be the cause, tasks are named that landed
   meanwhile and edited the same files or declared inputs of the check: as what may be, without their diff.
"""

from collections.abc import Sequence
from dataclasses import replace

from interlock.engine.canary import check_order
from interlock.engine.env import Env
from interlock.engine.known import is_seen, keys_of, seen_by
from interlock.engine.turn import Turn
from interlock.engine.undo import changes_on
from interlock.events import facts as f
from interlock.events.known_checks import known_check, was_red
from interlock.events.task_parts import Work
from interlock.git.reverting import LineCommit
from interlock.model.outcome import CheckResult, Tip
from interlock.model.reason import Reason, Value, Why
from interlock.model.task import Commit, TaskId
from interlock.train import Verdict
from interlock.train.together import suspects
from interlock.train.undo import changes_of

MOST_LANDINGS = 8
"""The last landings that are looked at: each costs a merge in memory."""


async def with_pair(env: Env, turn: Turn, main: Tip, verdict: Verdict, refused: f.Fact) -> f.Fact:
    """Add to the reason of a refusal what the change fails together with, if that is known."""
    made = turn.task.change.work
    if not isinstance(refused, f.PhaseFailed) or not verdict.red or made is None or refused.why is None:
        return refused
    pair = await _pair(env, turn, main, made, verdict.red[0])
    if pair is None:
        return refused
    return replace(refused, why=Reason(refused.why.code, {**refused.why.fields, "cause": pair}))


async def _pair(env: Env, turn: Turn, main: Tip, made: Work, red: CheckResult) -> Reason | None:
    inputs = dict(turn.task.spec.inputs)
    saw = await seen_by(env, main.tree, [red.command], inputs)
    on_main = turn.checks.on_main(main.tree, red.command, saw[red.command])
    if env.reverts is None or red.edited or on_main is None or not on_main.passed:
        return None
    state = turn.checks.ledger.state
    line = (await changes_on(env.reverts, state, made.base, main.commit, most=MOST_LANDINGS))[-MOST_LANDINGS:]
    landed = {change: each.task for change, each in changes_of(state, {each.commit for each in line}).items()}
    found = suspects([await _end(env, turn, made, red.command, each) for each in line])
    interval = [line[at].commit for at in found] if found else []
    is_known = bool(interval) and all(commit in landed for commit in interval)
    named = interval if is_known else [each.commit for each in line]
    tasks = {landed[commit]: commit for commit in named if commit in landed}
    if not is_known:
        globs = inputs.get(red.command, ())
        tasks = {task: commit for task, commit in tasks.items() if _meets(turn, made, task, globs)}
    if not tasks:
        return None
    fields: dict[str, Value] = {
        "command": red.command,
        "task": turn.task.spec.id,
        "tasks": tuple(tasks),
        "commits": tuple(tasks.values()),
        "is_known": is_known,
    }
    return Reason(Why.FAILS_TOGETHER, fields)


async def _end(env: Env, turn: Turn, made: Work, command: str, landing: LineCommit) -> bool | None:
    """Return the known result of the check for the change on main before a landing."""
    if not landing.parent or not turn.checks.environment:
        return None
    merge = await env.repository.merge(landing.parent, made.commit, made.base)
    if merge.tree is None:
        return None
    order = replace(check_order(turn.checks, "", merge.tree, (command,)), changed=made.touched)
    key = (await keys_of(env, order, turn.checks.environment))[command]
    state = turn.checks.ledger.state
    return True if known_check(state, key) else False if was_red(state, key) else None


def _meets(turn: Turn, made: Work, task: TaskId, inputs: Sequence[str]) -> bool:
    """Return True if a landed task edited files of the change, or declared inputs of the check."""
    known = turn.checks.ledger.state.tasks.get(task)
    theirs = known.change.work.touched if known and known.change.work else ()
    return any(path in made.touched or (inputs and is_seen(path, inputs)) for path in theirs)


def commits_of(why: Reason | None) -> list[tuple[str, Commit]]:
    """Return the landed changes, with their tasks, that a refused change is known to fail together with."""
    pair = why.cause if why else None
    if pair is None or pair.code != Why.FAILS_TOGETHER or not pair.fields.get("is_known"):
        return []
    return [(task, Commit(commit)) for task, commit in zip(pair.tasks, pair.names("commits"), strict=False)]
