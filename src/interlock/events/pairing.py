"""Passes facts about tasks that were started side by side to the overlaps. Called by the fold."""

import math

from interlock.events import facts as f
from interlock.events.overlaps import Pair
from interlock.events.state import State, TaskState
from interlock.model.forecast import Beside
from interlock.model.outcome import ErrorClass
from interlock.model.task import PhaseKind


def observe(state: State, task: TaskState, fact: f.Fact) -> None:
    """Take in a fact about `task` that counts."""
    name, overlaps = task.spec.id, state.learned.overlaps
    match fact:
        case f.PhaseStarted() if task.phase.kind is PhaseKind.AGENT:
            overlaps.start(name, [_pair(state, task, beside) for beside in fact.beside])
        case f.WorkFinished():
            overlaps.redo(name, fact.seconds)
        case f.PhaseFailed(error=ErrorClass.CONFLICT):
            overlaps.conflict(name)
        case f.Landed():
            overlaps.land(name)
        case f.TaskFailed() | f.TaskCancelled() | f.TaskRemoved() | f.TaskReset():
            overlaps.forget(name)
            overlaps.redoing.pop(name, None)


def _pair(state: State, task: TaskState, beside: Beside) -> Pair:
    other = state.tasks.get(beside.task, task)
    seconds = math.sqrt(task.expected_seconds * other.expected_seconds)
    return Pair(task.spec.id, beside.task, beside.paths, task.category, seconds)
