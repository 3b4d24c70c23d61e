"""Undoing in words: what goes together, what is in the way, and what happens next."""

from collections.abc import Iterator, Sequence

from interlock.engine.undo import UndoPlan
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.task import Reverted, TaskId
from interlock.train.undo import back_on_main
from interlock.ui.plain import inert, listed, one_line

NAMES_SHOWN = 4


def plan_lines(state: State, plan: UndoPlan) -> Iterator[str]:
    """Each commit that is undone, newest first, and the tasks that wait because of that."""
    asked = {each.change for each in plan.wanted}
    names = {each.task for each in plan.wanted if each.task}
    for each in plan.undoes:
        yield f"  undo {_named(plan, each)}{'' if each.change in asked else _why(names, each)}"
    gone = {each.task for each in plan.undoes if each.task}
    waiting = [
        name
        for name, task in state.tasks.items()
        if gone.intersection(task.spec.needs) and task.stage in (Stage.WAITING, Stage.RUNNING)
    ]
    back = [each.task for name in sorted(gone) for each in back_on_main(state, name)]
    if back:
        yield f"  counts as landed again: {listed(back, NAMES_SHOWN)}"
    if waiting:
        yield f"  waits again: {listed(waiting, NAMES_SHOWN)}"


def _why(names: set[TaskId], each: Reverted) -> str:
    if not each.task:
        return " (changed the same lines later)"
    return f" (built on {listed(sorted(names), NAMES_SHOWN)})" if names else " (changed the same lines later)"


def in_the_way_lines(plan: UndoPlan, names: Sequence[str]) -> tuple[str, str]:
    """Say why git cannot undo something, and the command that can."""
    blocked = next(each for each in plan.undoes if each.change == plan.revert.blocked_at)
    paths = listed(plan.revert.conflicts, NAMES_SHOWN)
    later = listed([_named(plan, each) for each in plan.in_the_way], NAMES_SHOWN)
    above = f"{later or 'a later commit'} changed the same lines of {paths}"
    command = f"interlock undo {' '.join(names)} --include-later"
    return (
        f"{_named(plan, blocked)} cannot be undone alone: {above}",
        command if later else f"git revert {blocked.change[:12]}",
    )


def _named(plan: UndoPlan, each: Reverted) -> str:
    subject = one_line(inert(plan.subjects.get(each.change, "")))
    return f"{each.task} ({each.change[:12]})" if each.task else f"{each.change[:12]} ({subject})"
