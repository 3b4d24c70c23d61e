"""Tasks by number, in an order in which needs come first, and the lengths of the paths through them.

Plain lists: at 10,000 tasks a graph library takes longer than everything else in this package.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from interlock.model.task import Task


def needs_first(tasks: Sequence[Task]) -> tuple[list[Task], list[Task]]:
    """The tasks in an order in which needs come first, and those that are on a circle or behind one."""
    needs, needed_by = _by_number(tasks)
    missing = [len(needed) for needed in needs]
    order = [i for i, count in enumerate(missing) if not count]
    for i in order:  # which grows meanwhile
        for other in needed_by[i]:
            missing[other] -= 1
            if not missing[other]:
                order.append(other)
    return [tasks[i] for i in order], [task for task, count in zip(tasks, missing, strict=True) if count]


def _by_number(tasks: Sequence[Task]) -> tuple[list[list[int]], list[list[int]]]:
    """The needs and dependents of each task, as positions in `tasks`. Unknown needs are left out."""
    number = {task.id: i for i, task in enumerate(tasks)}
    needs = [[number[need] for need in task.needs if need in number] for task in tasks]
    needed_by: list[list[int]] = [[] for _ in tasks]
    for i, needed in enumerate(needs):
        for need in needed:
            needed_by[need].append(i)
    return needs, needed_by


class Network:
    """Tasks that can all run, numbered so that needs have lower numbers. Other needs are taken as met."""

    def __init__(self, ordered: Sequence[Task]) -> None:
        self.tasks = ordered
        self.seconds = [task.estimate_seconds for task in ordered]
        self.needs, self.needed_by = _by_number(ordered)

    @cached_property
    def heads(self) -> list[float]:
        """Return for each task the time before which it cannot start."""
        heads = [0.0] * len(self.tasks)
        for i, needs in enumerate(self.needs):
            heads[i] = max((heads[need] + self.seconds[need] for need in needs), default=0.0)
        return heads

    @cached_property
    def tails(self) -> list[float]:
        """Return for each task the time from its start to the end of everything that must come after it."""
        tails = [0.0] * len(self.tasks)
        for i in reversed(range(len(self.tasks))):
            tails[i] = self.seconds[i] + max((tails[other] for other in self.needed_by[i]), default=0.0)
        return tails

    @cached_property
    def ancestors(self) -> list[int]:
        """Return each task's direct and indirect needs, as bits of a number: 6 MB for 10,000 tasks."""
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
