"""Tasks by number, in an order in which needs come first, and the lengths of the paths through them.

Plain lists: at 10,000 tasks a graph library takes longer than everything else in this package.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property

from interlock.model.task import Task, TaskId


def needs_first(tasks: Sequence[Task]) -> tuple[list[Task], list[Task]]:
    """The tasks in an order in which needs come first, and those that are on a circle or behind one."""
    by_id = {task.id: task for task in tasks}
    missing = {task.id: sum(need in by_id for need in task.needs) for task in tasks}
    needed_by: dict[TaskId, list[Task]] = {}
    for task in tasks:
        for need in task.needs:
            needed_by.setdefault(need, []).append(task)
    free = deque(task for task in tasks if not missing[task.id])
    order: list[Task] = []
    while free:
        order.append(task := free.popleft())
        for other in needed_by.get(task.id, ()):
            missing[other.id] -= 1
            if not missing[other.id]:
                free.append(other)
    return order, [task for task in tasks if missing[task.id]]


class Network:
    """Tasks that can all run, numbered so that needs have lower numbers. Other needs are taken as met."""

    def __init__(self, ordered: Sequence[Task]) -> None:
        self.tasks = ordered
        self.seconds = [task.estimate_seconds for task in ordered]
        number = {task.id: i for i, task in enumerate(ordered)}
        self.needs = [[number[need] for need in task.needs if need in number] for task in ordered]
        self.needed_by: list[list[int]] = [[] for _ in ordered]
        for i, needs in enumerate(self.needs):
            for need in needs:
                self.needed_by[need].append(i)

    @cached_property
    def heads(self) -> list[float]:
        """For each task, the time before which it cannot start."""
        heads = [0.0] * len(self.tasks)
        for i, needs in enumerate(self.needs):
            heads[i] = max((heads[need] + self.seconds[need] for need in needs), default=0.0)
        return heads

    @cached_property
    def tails(self) -> list[float]:
        """For each task, the time from its start to the end of everything that must come after it."""
        tails = [0.0] * len(self.tasks)
        for i in reversed(range(len(self.tasks))):
            tails[i] = self.seconds[i] + max((tails[other] for other in self.needed_by[i]), default=0.0)
        return tails

    @cached_property
    def ancestors(self) -> list[int]:
        """For each task, all it needs however indirectly, as bits of a number: 6 MB for 10,000 tasks."""
        ancestors = [0] * len(self.tasks)
        for i, needs in enumerate(self.needs):
            for need in needs:
                ancestors[i] |= ancestors[need] | 1 << need
        return ancestors

    def critical_path(self) -> list[int]:
        """The longest path: what the whole cannot be faster than, whatever runs beside it."""
        path: list[int] = []
        step: Iterable[int] = range(len(self.tasks))
        while (at := max(step, key=self.tails.__getitem__, default=None)) is not None:
            path.append(at)
            step = self.needed_by[at]
        return path
