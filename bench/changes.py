"""Random changes on their way to main, with the truth about every tree that could be made of them."""

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from interlock.model.task import TaskId
from interlock.train.speculation import Stack, Waiting

CHANGES = 100
AREAS = 8
"""Areas besides the hot one. Each has checks of its own that read nothing else."""
CLASH = 0.06
"""Share of hot changes that break together with one of those before, while each alone is green."""
NEAR = 20
"""A clash is with one of so many hot changes before: an older one its agent has seen."""
SPREAD = 0.4
"""Deviation of the logarithm of the seconds of a build; the middle is 1."""
LOAD = 2.0
"""Changes arrive so many times as fast as the slots can test them."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change, and what nobody knows of it beforehand."""

    task: TaskId
    arrives: float
    seconds: float
    """Of a build of it."""
    area: str
    is_bad: bool
    """Its checks fail on any tree."""
    clash: TaskId | None = None
    """The change with which its checks fail."""

    def waiting(self, passes: float, inputs: bool) -> Waiting:
        """As the train knows it. Without inputs, checks read everything."""
        reads = (f"{self.area}/**",) if inputs else None
        return Waiting(self.task, passes, frozenset({f"{self.area}/{self.task}"}), reads)


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of project, and of machine."""

    bad: float
    hot: float
    slots: int
    flakes: float

    def __str__(self) -> str:
        return f"p {self.bad:g}, hot {self.hot:g}, {self.slots} slots, flakes {self.flakes:g}"


class History:
    """The same for every policy: also the flakes of one build are."""

    def __init__(self, cell: Cell, seed: int, count: int = CHANGES) -> None:
        self.cell, self.seed = cell, seed
        dice = random.Random(f"{cell.bad} {cell.hot} {seed}")
        changes: list[Change] = []
        hot: list[TaskId] = []
        moment = 0.0
        for at in range(count):
            moment += dice.expovariate(LOAD * cell.slots)
            task = TaskId(f"t{at:02}")
            is_hot = dice.random() < cell.hot
            area = "hot" if is_hot else f"area{dice.randrange(AREAS)}"
            seconds = dice.lognormvariate(0.0, SPREAD)
            is_bad, clashes = dice.random() < cell.bad, dice.random() < CLASH
            clash = dice.choice(hot[-NEAR:]) if is_hot and hot and clashes else None
            changes.append(Change(task, moment, seconds, area, is_bad, clash))
            if is_hot:
                hot.append(task)
        self.changes = {change.task: change for change in changes}

    def is_green(self, tree: Collection[TaskId]) -> bool:
        """Whether all checks pass on main with these changes."""
        members = [self.changes[name] for name in tree]
        return not any(change.is_bad or change.clash in tree for change in members)

    def flakes(self, build: Stack, times: int) -> bool:
        """Whether this run of a build is red for no reason."""
        key = f"{self.seed} {build.task} {build.ahead} {times}"
        return random.Random(key).random() < self.cell.flakes

    def red_landings(self, landings: Iterable[Collection[TaskId]]) -> int:
        """Trees that main had and that were red, one after the other."""
        main: set[TaskId] = set()
        red = 0
        for landed in landings:
            main.update(landed)
            red += not self.is_green(main)
        return red

    def oracle_seconds(self) -> float:
        """Every change is built once, on the right base, and nothing waits for a result."""
        free = [0.0] * self.cell.slots
        for change in self.changes.values():
            at = free.index(min(free))
            free[at] = max(free[at], change.arrives) + change.seconds
        return max(free)
