"""The time limit for waiting on a lease (`lease_timeout`): none by default.

The end of a wait fails a task, so a clock that jumps ahead must not bring it about. The loop looks every
second: if more than JUMP_SECONDS seem to have passed between two looks, they did not pass for the tasks.
"""

import math

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.task import PhaseKind, TaskId

LOOK_AGAIN_SECONDS = 5.0
"""A task that is late waits for something else first, most of the time: for a slot, or for what it needs."""

JUMP_SECONDS = 60.0


class LeaseTimeouts:
    """The tasks that wait and have a limit, found without a look at all of them."""

    def __init__(self) -> None:
        self._ends: dict[TaskId, tuple[float, float]] = {}
        """The start of each wait, and its end if no clock jumps."""
        self._first = math.inf
        self._looked = 0.0
        self._jumps: list[tuple[float, float]] = []
        """The time after which the clock jumped, and the size of the jump."""

    def note(self, name: TaskId, task: TaskState) -> None:
        """A fact changed the task."""
        self._ends.pop(name, None)
        if task.spec.lease_seconds and task.stage is Stage.WAITING:
            since = task.ready_since if task.phase.kind is PhaseKind.AGENT else task.since
            self._ends[name] = since, since + task.spec.lease_seconds
            self._first = min(self._first, self._ends[name][1])

    def late(self, now: float) -> list[TaskId]:
        """Those whose time is over, as far as it is time to look."""
        if self._looked and now - self._looked > JUMP_SECONDS:
            self._jumps.append((self._looked, now - self._looked))
        self._looked = now
        if now < self._first:
            return []
        ends = {name: self._without_jumps(*span) for name, span in self._ends.items()}
        late = sorted(name for name, end in ends.items() if end <= now)
        self._first = min((end for end in ends.values() if end > now), default=math.inf)
        if late:
            self._first = min(self._first, now + LOOK_AGAIN_SECONDS)
        return late

    def _without_jumps(self, since: float, end: float) -> float:
        return end + sum(size for at, size in self._jumps if at >= since)
