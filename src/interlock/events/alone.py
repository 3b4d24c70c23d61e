"""Paths that a task holds alone, and finished changes of others that edit them.

Rules:
1. A task holds its paths from its agent's start until its change has landed or is given up. Finished work
   that cannot go on by itself (its task is paused, in review, not part of this run, or needs one that was
   undone) holds nothing: waiting for it would mean waiting for a person.
2. A change that edits what another task holds alone waits until that task is done, and is then built on top.
3. No two wait for each other: where tasks wait in a circle, the one whose work was finished first goes first.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from interlock.events.lifecycle import Stage
from interlock.events.main import lacks_need
from interlock.events.state import State, TaskState
from interlock.model.globs import matches
from interlock.model.task import PhaseKind, TaskId


class Alone(NamedTuple):
    """A path of a finished change, and the task that holds it alone."""

    holder: TaskId
    glob: str
    path: str


def is_attempted(task: TaskState) -> bool:
    """Return True if an attempt at it is under way, also one that a person took the task from."""
    return task.session.leftover > 0 or (task.stage is Stage.RUNNING and task.phase.kind is PhaseKind.AGENT)


def holds_paths(state: State, task: TaskState) -> bool:
    """Return True if it keeps others away from its paths now."""
    return is_attempted(task) or edited(state, task) is not None


def edited(state: State, task: TaskState) -> tuple[str, ...] | None:
    """Return the paths of its finished change, if that is on its way to main or may be there already."""
    name = task.spec.id
    is_held = task.queue.paused or task.in_review is not None or lacks_need(state, task)
    goes_on = task.stage is Stage.RUNNING or (state.is_selected(name) and not is_held)
    is_on_its_way = (name in state.index.train and goes_on) or name in state.index.reconcile
    return task.change.work.touched if is_on_its_way and task.change.work else None


def kept_back(state: State) -> dict[TaskId, Alone]:
    """The finished changes that must not land yet, each with the first task that it has to wait for."""
    exclusive = [state.tasks[name] for name in sorted(state.index.exclusive)]
    holders = [task for task in exclusive if holds_paths(state, task)]
    if not holders:
        return {}
    waits = {name: list(_met(state.tasks[name], holders)) for name in state.index.train}
    blocked = {name: [each.holder for each in found] for name, found in waits.items() if found}
    kept = {}
    for name, found in waits.items():
        left = [each for each in found if not _goes_first(state.index.train, blocked, name, each.holder)]
        if left:
            kept[name] = left[0]
    return kept


def _met(task: TaskState, holders: list[TaskState]) -> Iterator[Alone]:
    touched = task.change.work.touched if task.change.work else ()
    for holder in holders:
        if holder is not task and (found := _first_met(holder.spec.exclusive, touched)):
            yield Alone(holder.spec.id, *found)


@lru_cache(maxsize=1024)
def _first_met(globs: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, str] | None:
    """Find the first path that a glob matches. Every decision asks this again, so the answer is cached."""
    return next(((glob, path) for glob in globs for path in paths if matches(glob, path)), None)


def _goes_first(
    train: Mapping[TaskId, int], blocked: Mapping[TaskId, list[TaskId]], name: TaskId, holder: TaskId
) -> bool:
    """Return True if they would wait for each other, directly or not, and `name` was first (rule 3)."""
    if holder not in train or train[name] > train[holder]:
        return False
    seen, left = set[TaskId](), [holder]
    while left:
        other = left.pop()
        if other == name:
            return True
        if other not in seen:
            seen.add(other)
            left += blocked.get(other, [])
    return False
