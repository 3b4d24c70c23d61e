"""The work that hangs on each task: the longest chain of expected times from it to the end of the graph.

Worked out once for the graph, and again only for the tasks above those whose definition or forecast changed.
A log may be read while half of a new graph is in it, so a cycle must not hang us: its tasks, and those before
it, get an endless tail until the rest has arrived.
"""

import math
from collections.abc import Iterable

from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.task import Task, TaskId


class Tails:
    """The tail of every task, kept up to date lazily."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._seconds: dict[TaskId, float] = {}
        self._seen: dict[TaskId, tuple[Task, float | None]] = {}
        """Its definition, and how long it takes by itself; None: it is no longer in the graph."""
        self._dirty: set[TaskId] = set()

    def seconds(self, task: TaskId) -> float:
        """Return the tail as of the last `refresh`; for a newer task its own estimate."""
        return self._seconds.get(task, 0.0)

    def note(self, task: TaskId) -> None:
        """Something about the task changed; if it was its definition or its forecast, tails will follow."""
        now = self._state.tasks[task]
        own_seconds = None if now.stage is Stage.REMOVED else now.expected_seconds
        before = self._seen.get(task)
        if before is not None and before[0] is now.spec and before[1] == own_seconds:
            return
        self._seen[task] = (now.spec, own_seconds)
        self._dirty.add(task)
        if before is not None:
            self._dirty.update(before[0].needs)

    def forget(self, task: TaskId) -> None:
        """The task was done long ago, and the tails of what it needs end without it."""
        if before := self._seen.pop(task, None):
            self._dirty.update(before[0].needs)
        self._seconds.pop(task, None)
        self._dirty.discard(task)

    def refresh(self) -> list[TaskId]:
        """Bring all tails up to date; which of them changed."""
        if not self._dirty:
            return []
        affected = self._with_ancestors(self._dirty)
        self._dirty = set()
        before = {task: self._seconds.get(task) for task in affected}
        self._work_out(affected)
        return [task for task in affected if self._seconds[task] != before[task]]

    def _with_ancestors(self, tasks: Iterable[TaskId]) -> set[TaskId]:
        known = self._state.tasks
        found = {task for task in tasks if task in known}
        stack = list(found)
        while stack:
            for need in known[stack.pop()].spec.needs:
                if need in known and need not in found:
                    found.add(need)
                    stack.append(need)
        return found

    def _work_out(self, affected: set[TaskId]) -> None:
        """Compute from the ends of the graph upwards, each task once all that depend on it are known."""
        pending = dict.fromkeys(affected, 0)
        for task in affected:
            for need in self._state.tasks[task].spec.needs:
                if need in pending:
                    pending[need] += 1
        settled = [task for task, count in pending.items() if count == 0]
        for task in affected:
            self._seconds[task] = math.inf
        while settled:
            task = settled.pop()
            self._seconds[task] = self._tail(task)
            for need in self._state.tasks[task].spec.needs:
                if need in pending:
                    pending[need] -= 1
                    if pending[need] == 0:
                        settled.append(need)

    def _tail(self, task: TaskId) -> float:
        own_seconds = self._seen[task][1]
        if own_seconds is None:
            return 0.0
        following = self._state.index.dependents.get(task, ())
        return own_seconds + max(map(self._seconds.__getitem__, following), default=0.0)
