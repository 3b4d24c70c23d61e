"""Plans a change that undoes landings, and turns the plan into facts. The rules are in `train/undo.py`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from interlock.engine.quote import quoted
from interlock.engine.turn import Turn
from interlock.events import facts as f
from interlock.events.state import State
from interlock.git.reverting import LineCommit, Revert, Reverts
from interlock.model.errors import UsageError
from interlock.model.failure import fingerprint
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit, Reverted
from interlock.train.undo import changes_of, is_joint, undo_facts, undo_task, with_landed_dependents

FEEDBACK_CHARS = 4_000
NEAR = 1_000
"""Most of what is undone is among so many of the newest commits of main; else all of it is listed."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The commits that are undone together, and the change that does it."""

    wanted: tuple[Reverted, ...]
    undoes: tuple[Reverted, ...]
    """All of it, newest first: also landed tasks that need one of those that are wanted."""
    revert: Revert
    in_the_way: tuple[Reverted, ...] = ()
    """Later commits that changed the same lines, newest first, where git cannot undo it without them."""
    subjects: Mapping[Commit, str] = field(default_factory=dict)
    """The first line of each commit's message."""


async def plan_undo(
    reverts: Reverts, state: State, main: Commit, wanted: Sequence[Reverted], *, include_later: bool = False
) -> UndoPlan:
    """Find out what has to be undone together, and undo it in memory on top of `main`."""
    chosen = _with_dependents(state, wanted)
    while True:
        newest = await _newest_first(reverts, state, main, chosen.keys())
        undoes = tuple(chosen[each.commit] for each in newest)
        revert = await reverts.revert(main, [each.commit for each in newest])
        later = await _in_the_way(reverts, state, main, revert, chosen.keys())
        known = changes_of(state, {each.commit for each in later})
        found = tuple(known.get(each.commit, Reverted(each.commit)) for each in later)
        if not (include_later and found):
            subjects = {each.commit: each.subject for each in (*newest, *later)}
            return UndoPlan(tuple(wanted), undoes, revert, found, subjects)
        chosen |= _with_dependents(state, found)


async def changes_on(
    reverts: Reverts, state: State, since: Commit, until: Commit, paths: Sequence[str] = (), *, most: int = 0
) -> list[LineCommit]:
    """List the line of the branch (`Reverts.line`), with the commits of each task in place of a merge that
    landed several."""
    found: list[LineCommit] = []
    for each in await reverts.line(since, until, paths, most=most):
        if not each.merged or not is_joint(state, each.commit):
            found.append(each)
            continue
        own = await reverts.line(each.parent, each.merged[-1], paths)
        after = next((at for at, one in enumerate(own, start=1) if one.commit == since), 0)
        found += own[after:]
    return found


def facts_of(
    state: State, plan: UndoPlan, main: Commit, who: str, red: CheckResult | None = None
) -> list[f.Fact]:
    """Return the facts that put the change into the train, for a plan that has one.

    `red` is the check that fails on main, where the tasks that are undone are to start again because of it.
    """
    task = undo_task(state, plan.undoes, plan.wanted[0])
    made, why = plan.revert, ("", "")
    if red:  # the next agent reads it, and others may have written it
        why = (red.command, quoted(f"Output of `{red.command}` on main", red.tail, FEEDBACK_CHARS))
    prepared = f.RevertPrepared(task.id, main, made.commit, made.touched, plan.undoes, red is not None, *why)
    return undo_facts(task, prepared, who)


def superseded(turn: Turn) -> f.PhaseFailed | None:
    """Build the fact that gives up the undo of an undo, if a task has landed again since it was begun."""
    undo = turn.task.change.undo
    later = turn.checks.landed_again(undo.undoes) if undo else ()
    if not later:
        return None
    why = Reason(Why.LANDED_AGAIN, {"tasks": tuple(each.task for each in later)})
    return f.PhaseFailed(
        *turn.key,
        error=ErrorClass.CONFLICT,
        why=why,
        fingerprint=fingerprint(ErrorClass.CONFLICT, "landed again", str(later)),
    )


def _with_dependents(state: State, wanted: Iterable[Reverted]) -> dict[Commit, Reverted]:
    """Return all that is undone together, by the commits with the changes."""
    chosen = {each.change: each for each in wanted}
    named = [each.task for each in wanted if each.task]
    return chosen | {each.change: each for each in with_landed_dependents(state, named)}


async def _newest_first(
    reverts: Reverts, state: State, main: Commit, commits: Collection[Commit]
) -> list[LineCommit]:
    found: list[LineCommit] = []
    for most in (NEAR, 0):
        line = await changes_on(reverts, state, Commit(""), main, most=most)
        found = [each for each in reversed(line) if each.commit in commits]
        if len(found) == len(commits):
            break
    if lost := sorted(set(commits) - {each.commit for each in found}):
        raise UsageError(
            f"{lost[0][:12]} is not on main's own line of landings, pushed commits and merges",
            "name the merge that brought it to main",
        )
    if not all(each.parent for each in found):
        raise UsageError(f"{found[-1].commit[:12]} is the first commit of main and cannot be undone")
    return found


async def _in_the_way(
    reverts: Reverts, state: State, main: Commit, revert: Revert, chosen: Collection[Commit]
) -> list[LineCommit]:
    if not revert.blocked_at:
        return []
    later = await changes_on(reverts, state, revert.blocked_at, main, revert.conflicts)
    return [each for each in reversed(later) if each.commit not in chosen]
