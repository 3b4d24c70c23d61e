"""What really happens in a simulated run, whatever the plan expected."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from interlock.model.task import Task, TaskId


@dataclass(frozen=True, slots=True)
class World:
    """How long tasks take, what they edit, and which changes conflict. The same dice for every policy."""

    took: Mapping[TaskId, float] = field(default_factory=dict)
    """Seconds of the first attempt; who is missing takes what was expected."""
    edited: Mapping[TaskId, frozenset[str]] = field(default_factory=dict)
    conflict: float = 0.0
    """The probability that two changes made side by side conflict, for each file that both edit."""
    rework: float = 1.0
    """How long an attempt takes that resolves a conflict, as a share of the first."""
    seed: int = 0

    def seconds(self, task: Task, attempt: int) -> float:
        """How long this attempt takes."""
        first = self.took.get(task.id, task.estimate_seconds)
        return first if attempt <= 1 else first * self.rework

    def conflicts(self, task: Task, landed: Iterable[TaskId]) -> bool:
        """Does its change conflict with one that landed while it was made."""
        mine = self.edited.get(task.id, frozenset())
        return any(self._conflict(task.id, other, len(mine & self.edited[other])) for other in landed if mine)

    def _conflict(self, one: TaskId, other: TaskId, shared: int) -> bool:
        if not shared:
            return False
        dice = random.Random(f"{self.seed}:{min(one, other)}:{max(one, other)}")
        return dice.random() < 1 - (1 - self.conflict) ** shared
