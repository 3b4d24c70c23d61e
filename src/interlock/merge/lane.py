"""One lane to main: work is checked on top of main and landed, one change at a time.

Rules:
1. First come, first served: `state.train` keeps the order in which work was finished, and work that went back
   to its agent joins again at the end. Nobody can be overtaken for ever.
2. A change that passed its checks lands before anything else is checked: whatever landed in between makes
   its checks worthless.
3. A pause of everything stops agents only. Finished work goes on to main: it is paid for, holds leases and
   grows stale. A pause of one task holds that task back here too, and the lane goes on behind it.
4. Whether main is still where the candidate was built is asked when main is moved, by compare-and-swap: the
   answer here could be out of date. A stale candidate comes back as a fact and is checked again.
"""

from collections.abc import Iterator

from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.step import Start
from interlock.model.task import PhaseKind


def moves(state: State, now: float) -> list[Start]:
    """What the lane does next: nothing while a change is in it, else the one whose turn it is."""
    if any(task in state.train for task in state.running):
        return []
    following = next(_tested(state, now), None) or next(_waiting(state, now), None)
    return [_start(following)] if following else []


def _tested(state: State, now: float) -> Iterator[TaskState]:
    # The candidate is looked at first because that is cheap, and hardly any task of a long train has one.
    return (
        task
        for name in state.train
        if (task := state.tasks[name]).candidate
        and task.phase.kind is PhaseKind.LAND
        and _may_move(state, task, now)
    )


def _waiting(state: State, now: float) -> Iterator[TaskState]:
    return (task for name in state.train if _may_move(state, task := state.tasks[name], now))


def _may_move(state: State, task: TaskState, now: float) -> bool:
    name = task.spec.id
    return (
        task.stage is Stage.WAITING
        and not task.paused
        and task.not_before <= now
        and name not in state.reconcile
        and state.is_selected(name)
    )


def _start(task: TaskState) -> Start:
    return Start(task.spec.id, task.attempt, task.phase.name, _why(task))


def _why(task: TaskState) -> str:
    if task.phase.kind is PhaseKind.LAND:
        return "passed its checks on top of main"
    return "its turn in the lane"
