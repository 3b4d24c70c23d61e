"""Counts the results of tasks that were started although they may edit the same paths as others under way.

Rules:
1. Two tasks are a pair from the start of the second on. When one of them has landed, the other gives the
   result: it lands too, or it conflicts. Any other end (another failure, a cancel) gives none.
2. The cost of a conflict is the time of the attempt after it, beside the expected time of both: the loser is
   often the longer of the two.
3. Counts fade from run to run, so that an overlap that was given up is tried again some day.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from interlock.events.tallies import DECAY
from interlock.model.numbers import logarithm
from interlock.model.task import TaskId

LEAST_SECONDS = 1.0
"""The least time that is counted: a logarithm needs more than 0."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attempts side by side."""

    task: TaskId
    """The task that was started second, knowingly."""
    other: TaskId
    paths: float
    """Number of paths that both were expected to edit."""
    kind: str
    """The category of `task`."""
    seconds: float
    """Expected time of both: the geometric mean."""
    landed: TaskId | None = None

    @property
    def tasks(self) -> tuple[TaskId, TaskId]:
        return self.task, self.other


@dataclass(slots=True)
class Regime:
    """Results of overlaps in one kind of work."""

    overlaps: float = 0.0
    conflicts: float = 0.0
    exposure: float = 0.0
    """Paths in common, added up until the conflict: the conflicting one is not known, so half of them count
    where there was one."""
    redone: float = 0.0
    """Conflicts after which a change was made again."""
    rework: float = 0.0
    """Sum of the logarithms of the time that took divided by the expected time of the pair. Logarithms, so
    that one task of a whole day does not outweigh a hundred others."""

    def fade(self) -> None:
        for name in ("overlaps", "conflicts", "exposure", "redone", "rework"):
            setattr(self, name, getattr(self, name) * DECAY)


@dataclass(slots=True)
class Overlaps:
    """All pairs that have not told yet, and what the others told."""

    pairs: list[Pair] = field(default_factory=list)
    redoing: dict[TaskId, Pair] = field(default_factory=dict)
    """Tasks that make a change again, each with the pair that caused it."""
    regimes: dict[str, Regime] = field(default_factory=dict)
    """Results by category, over all runs."""

    def fade(self) -> None:
        for regime in self.regimes.values():
            regime.fade()

    def of(self, kind: str) -> Regime:
        return self.regimes.setdefault(kind, Regime())

    def start(self, task: TaskId, pairs: Iterable[Pair]) -> None:
        """Begin a new attempt of `task`: the pairs of the one before are dropped without a result."""
        self.forget(task)
        self.pairs += pairs

    def land(self, task: TaskId) -> None:
        """Note that its change is on main: a pair whose other change had landed is clean."""
        told = [pair for pair in self.pairs if task in pair.tasks and pair.landed]
        for pair in told:
            regime = self.of(pair.kind)
            regime.overlaps += 1
            regime.exposure += pair.paths
        self.pairs = [
            replace(pair, landed=task) if task in pair.tasks else pair
            for pair in self.pairs
            if pair not in told
        ]

    def conflict(self, task: TaskId) -> None:
        """Note that its change conflicts with changes that landed meanwhile."""
        told = [pair for pair in self.pairs if pair.landed and task in pair.tasks]
        for pair in told:
            regime = self.of(pair.kind)
            regime.overlaps += 1
            regime.exposure += pair.paths / 2
        if told:  # one conflict, whichever of them it was with
            likeliest = max(told, key=lambda pair: pair.paths)
            self.of(likeliest.kind).conflicts += 1
            self.redoing[task] = likeliest
        self.forget(task)

    def redo(self, task: TaskId, seconds: float) -> None:
        """A change was made, perhaps once more."""
        if pair := self.redoing.pop(task, None):
            regime = self.of(pair.kind)
            regime.redone += 1
            regime.rework += logarithm(max(seconds, LEAST_SECONDS) / max(pair.seconds, LEAST_SECONDS))

    def forget(self, task: TaskId) -> None:
        self.pairs = [pair for pair in self.pairs if task not in pair.tasks]
