"""Whether to start a task whose footprint overlaps that of one under way, rather than let a slot idle."""

from collections.abc import Collection

from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.task import PhaseKind, TaskId
from interlock.schedule.footprint import held_paths, meeting
from interlock.schedule.holds import Holds, Kind

THETA = 0.5
"""Expected rework may cost half of the idle time it saves. An idle minute wastes a slot; a minute done twice
wastes a slot and the tokens, so it is priced double. Simulations found no fixed value that is best everywhere
(locking cost up to 1.78x in time, optimism up to 1.47x in work): a start, until the log can teach it."""

CHECK_SHARE = 0.25
"""Of its estimate: how long a finished change is still taken to need until it has landed."""

SECOND_CHOICES = 8
"""How many overlapping tasks one decision looks at, best first; a bound on its work."""


def is_worth_it(state: State, holds: Holds, name: TaskId, now: float, chosen: Collection[TaskId]) -> bool:
    """Is P(conflict) x rework small beside the wait, for everyone it would overlap with."""
    task = state.tasks[name]
    return all(
        meeting(task, state.tasks[blocker]) * task.expected_seconds
        <= THETA * remaining_seconds(state, blocker, now, chosen)
        for blocker in overlapped(holds, task)
    )


def overlapped(holds: Holds, task: TaskState) -> set[TaskId]:
    """Whose footprints this task would step on."""
    return {name for path in held_paths(task) for name in holds.soft((Kind.TOUCH, path), task.spec.id) or ()}


def remaining_seconds(state: State, name: TaskId, now: float, chosen: Collection[TaskId]) -> float:
    """How much longer a task is expected to be in the way. `chosen` are about to start."""
    task = state.tasks[name]
    estimate = task.expected_seconds
    if name in chosen:
        return estimate * (1 + CHECK_SHARE)
    if task.stage is Stage.RUNNING and task.phase.kind is PhaseKind.AGENT:
        return max(0.0, task.since + estimate - now) + estimate * CHECK_SHARE
    return estimate * CHECK_SHARE
