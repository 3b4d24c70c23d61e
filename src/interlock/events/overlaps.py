"""What came of tasks that were started although they may edit the same paths as others under way.

Rules:
1. Two tasks are a pair from the start of the second on. When one of them has landed, what becomes of the
   other tells: it lands too, or it conflicts. Anything else (another failure, a person's hand) tells nothing.
2. What a conflict costs is how long the attempt after it takes, beside how long both were expected to take:
   the loser is often the longer of the two.
3. What is counted fades from run to run, so that what was given up is tried again some day.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from interlock.events.tallies import DECAY
from interlock.model.numbers import logarithm
from interlock.model.task import TaskId

LEAST_SECONDS = 1.0
"""What takes less is taken for this: a logarithm needs something."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attempts side by side."""

    task: TaskId
    """Which was started second, knowingly."""
    other: TaskId
    paths: float
    """How many both will edit, as was expected."""
    kind: str
    """The category of `task`."""
    seconds: float
    """How long they were expected to take: the geometric mean."""
    landed: TaskId | None = None

    @property
    def tasks(self) -> tuple[TaskId, TaskId]:
        """Both."""
        return self.task, self.other


@dataclass(slots=True)
class Regime:
    """How overlaps in one kind of work turned out."""

    overlaps: float = 0.0
    conflicts: float = 0.0
    exposure: float = 0.0
    """Paths in common, added up until the conflict: as nobody knows which of them it was, half of them count
    where there was one."""
    redone: float = 0.0
    """Conflicts after which a change was made again."""
    rework: float = 0.0
    """The logarithms, added up, of how long that took beside how long the pair was expected to take.
    Logarithms, so that one task of a whole day does not drown what a hundred others say."""

    def fade(self) -> None:
        """A run later."""
        for name in ("overlaps", "conflicts", "exposure", "redone", "rework"):
            setattr(self, name, getattr(self, name) * DECAY)


@dataclass(slots=True)
class Overlaps:
    """All pairs that have not told yet, and what the others told."""

    pairs: list[Pair] = field(default_factory=list)
    redoing: dict[TaskId, Pair] = field(default_factory=dict)
    """Who makes a change again, because of which pair."""
    regimes: dict[str, Regime] = field(default_factory=dict)
    """By category, over all runs."""

    def fade(self) -> None:
        """A run later."""
        for regime in self.regimes.values():
            regime.fade()

    def of(self, kind: str) -> Regime:
        """Where pairs of this kind are counted."""
        return self.regimes.setdefault(kind, Regime())

    def start(self, task: TaskId, pairs: Iterable[Pair]) -> None:
        """A new attempt of `task`: what the one before would have told, nobody knows."""
        self.forget(task)
        self.pairs += pairs

    def land(self, task: TaskId) -> None:
        """Its change is on main: a pair that the other one had landed of is clean."""
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
        """Its change conflicts with what landed meanwhile."""
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
        """Nothing can be told from its pairs any more."""
        self.pairs = [pair for pair in self.pairs if task not in pair.tasks]
