"""How long tasks wait for what others hold (`lease_timeout`): for ever, if nothing else is said."""

import math

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.task import PhaseKind, TaskId

LOOK_AGAIN_SECONDS = 5.0
"""A task that is late waits for something else first, most of the time: for a slot, or for what it needs."""


class Patience:
    """The tasks that wait and have a limit, found without a look at all of them."""

    def __init__(self) -> None:
        self._ends: dict[TaskId, float] = {}
        self._first = math.inf

    def note(self, name: TaskId, task: TaskState) -> None:
        """A fact changed the task."""
        self._ends.pop(name, None)
        if task.spec.lease_seconds and task.stage is Stage.WAITING:
            since = task.ready_since if task.phase.kind is PhaseKind.AGENT else task.since
            self._ends[name] = since + task.spec.lease_seconds
            self._first = min(self._first, self._ends[name])

    def late(self, now: float) -> list[TaskId]:
        """Those whose time is over, as far as it is time to look."""
        if now < self._first:
            return []
        late = sorted(name for name, end in self._ends.items() if end <= now)
        self._first = min((end for end in self._ends.values() if end > now), default=math.inf)
        if late:
            self._first = min(self._first, now + LOOK_AGAIN_SECONDS)
        return late
