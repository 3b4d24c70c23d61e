"""What was learned, and what follows from it: forecasts, limits, lessons, the pool's figures."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact, PhaseFact
from interlock.events.tallies import Tallies
from interlock.model.forecast import Forecast
from interlock.model.lesson import Lesson
from interlock.model.pool import PoolFigures
from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class TaskEstimated(Fact):
    """What earlier work says about a task, as of now. The schedule goes by the latest."""

    task: TaskId
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class ExperienceGathered(Fact):
    """What other projects of the same user count. Here it is a hint, until there is something better."""

    projects: int
    tallies: Tallies


@dataclass(frozen=True, slots=True)
class ClutchDecided(Fact):
    """How many agents may work at once, and which brake says so."""

    limit: int
    brake: str
    """`max-parallel`, `cold-start`, `goodput`, `provider` or `host`."""
    why: str
    category: str = ""
    """Of which kind of work; empty: of all together."""
    evidence: dict[str, float] | None = None
    """The figures behind it, by name."""
    provider: str = ""
    """Of the agents of which provider, if it is about those."""
    goodput: int = 0
    """What the goodput brake alone would allow; 0: it was not asked."""
    until: float = 0.0
    """With a limit of 0: when it ends."""


@dataclass(frozen=True, slots=True)
class ProviderBraked(Fact):
    """A model server or credential takes more, or less, than it did."""

    provider: str
    """The host, and the name (never the value) of the credential's variable; or `login:` and the kind of
    program that has an account of its own."""
    limit: float
    """Calls at once that are let through now; of an account, agents at once."""
    why: str
    until: float = 0.0
    """Nothing goes there before this time; 0: it may at once."""
    calls: int = 0
    """Calls since the last such fact, and how many of them were turned away."""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class LessonLearned(Fact):
    """An attempt showed what fixes a failure, once more if the lesson is known; or a person says so."""

    lesson: Lesson


@dataclass(frozen=True, slots=True)
class NothingLearned(Fact):
    """A task landed after a failure, and what overcame it cannot be said."""

    task: TaskId
    attempt: int
    why: str


@dataclass(frozen=True, slots=True)
class LessonsOffered(PhaseFact):
    """Which lessons an attempt was given, and which of those that fit were held back to see what they do."""

    offered: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonRetired(Fact):
    """A lesson is not offered any more."""

    lesson: str
    why: str
    """With the figures behind it; or a person's words."""


@dataclass(frozen=True, slots=True)
class ScopeRequested(PhaseFact):
    """An agent wants to edit what nobody expected it to."""

    paths: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ScopeAnswered(Fact):
    """Whether it may: yes when nobody else holds it."""

    task: TaskId
    attempt: int
    paths: tuple[str, ...]
    granted: bool
    why: str = ""
    request: int = 0
    """The position of the request in the log."""


@dataclass(frozen=True, slots=True)
class PoolMeasured(Fact):
    """How the pool did since the run began."""

    run: str
    figures: PoolFigures
