"""The overlaps of work under way, as the radar reported them last.

Rules:
1. An overlap is of two attempts, of which an agent is at work on one at least; the other one's change may
   wait in the train. When that is over, the overlap is over, and no fact says so.
2. A report about other attempts is late and changes nothing.
3. A change gives way by going to the end of the train. So no other change loses its place by it.
"""

from collections.abc import Callable
from typing import Any

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import LiveOverlap
from interlock.model.radar import MAIN
from interlock.model.task import PhaseKind, TaskId


def overlap_key(task: TaskId, other: TaskId) -> str:
    return f"{task} {other}"


def is_flying(task: TaskState | None) -> bool:
    """Return True if an agent is at work on the task, or its files are being taken in."""
    return task is not None and task.stage is Stage.RUNNING and task.phase.kind is PhaseKind.AGENT


def is_queued(task: TaskState | None) -> bool:
    """Return True if its change is finished, and not on main yet."""
    if task is None or task.is_over or task.change.work is None:
        return False
    return task.phase.kind is not PhaseKind.AGENT and task.change.work.attempt == task.attempt


def _is_true(state: State, fact: f.OverlapSeen | f.OverlapGone | LiveOverlap) -> bool:
    """Rule 1, for exactly these attempts."""
    tasks = [(fact.task, fact.attempt)] + [(fact.other, fact.other_attempt)] * (fact.other != MAIN)
    found = [state.tasks.get(name) for name, _ in tasks]
    if any(task is None or task.attempt != of for task, (_, of) in zip(found, tasks, strict=True)):
        return False
    return any(map(is_flying, found)) and all(is_flying(task) or is_queued(task) for task in found)


def _seen(state: State, fact: f.OverlapSeen, row: Recorded) -> set[TaskId]:
    if fact.task != fact.other and _is_true(state, fact):
        live, key = state.radar.live, overlap_key(fact.task, fact.other)
        before = live.get(key)
        since, seq = (before.since, before.seq) if before else (row.time, row.seq)
        live[key] = LiveOverlap(
            fact.task, fact.attempt, fact.other, fact.other_attempt, fact.paths, fact.count, since, seq
        )
    return set()


def _gone(state: State, fact: f.OverlapGone, _: Recorded) -> set[TaskId]:
    if _is_true(state, fact):
        state.radar.live.pop(overlap_key(fact.task, fact.other), None)
    return set()


def may_give_way(task: TaskState) -> bool:
    """Return True if its finished change waits for its checks, in a place that no person gave it."""
    waits = task.stage is Stage.WAITING and task.phase.kind is PhaseKind.CHECK and is_queued(task)
    return waits and task.change.work is not None and not task.change.work.bumped


def _gave_way(state: State, fact: f.GaveWay, _: Recorded) -> set[TaskId]:
    train, task, other = state.index.train, state.tasks.get(fact.task), state.tasks.get(fact.other)
    are_queued = fact.task in train and fact.other in train and fact.task != fact.other
    if not are_queued or task is None or other is None or not may_give_way(task):
        return set()
    if (task.attempt, other.attempt) == (fact.attempt, fact.other_attempt):
        train[fact.task] = train.pop(fact.task)
    return set()


def settle(state: State, fact: f.Fact, changed: set[TaskId]) -> None:
    """Drop the overlaps that a fact made things of the past."""
    radar = state.radar
    if not radar.live:
        return
    if isinstance(fact, f.RunStarted):
        radar.live.clear()  # what was at work has ended with the run before
    old = [
        key
        for key, each in radar.live.items()
        if (each.task in changed or each.other in changed) and not _is_true(state, each)
    ]
    for key in old:
        del radar.live[key]


# Any: each handler takes the one kind of fact it is listed under.
REPORTS: dict[type[f.Fact], Callable[[State, Any, Recorded], set[TaskId]]] = {
    f.OverlapSeen: _seen,
    f.OverlapGone: _gone,
    f.GaveWay: _gave_way,
}
