"""Facts about what was learned: forecasts, limits, lessons, the pool's figures."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact, PhaseFact
from interlock.events.tallies import Tallies
from interlock.model.forecast import Forecast
from interlock.model.lesson import Lesson
from interlock.model.pool import PoolFigures
from interlock.model.reason import Reason
from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class TaskEstimated(Fact):
    """A forecast for a task, from earlier work. The schedule uses the latest."""

    task: TaskId
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class ExperienceGathered(Fact):
    """Counts of the user's other projects, in logs up to 0.2. They change nothing."""

    projects: int
    tallies: Tallies


@dataclass(frozen=True, slots=True)
class ClutchDecided(Fact):
    """A limit of agents at work at once, and the brake that set it."""

    limit: int
    brake: str
    """`max-parallel`, `cold-start`, `goodput`, `provider` or `host`."""
    why: Reason | None
    category: str = ""
    """The kind of work; empty: all together."""
    evidence: dict[str, float] | None = None
    """The figures behind it, by name."""
    provider: str = ""
    """The provider, if the limit is for its agents."""
    goodput: int = 0
    """The number that the goodput brake alone would allow; 0: it was not asked."""
    until: float = 0.0
    """End of a limit of 0."""


@dataclass(frozen=True, slots=True)
class ProviderBraked(Fact):
    """A model server or credential takes more, or less, than it did."""

    provider: str
    """The host, and the name (never the value) of the credential's variable; or `login:` and the kind of
    program that has an account of its own."""
    limit: float
    """Calls at once that are let through now; of an account, agents at once."""
    why: Reason | None
    until: float = 0.0
    """No call goes there before this time; 0: calls may go at once."""
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
    why: Reason | None = None


@dataclass(frozen=True, slots=True)
class LessonsOffered(PhaseFact):
    """An attempt was given lessons; some that fit were held back to measure if they help."""

    offered: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonRetired(Fact):
    """A lesson is not offered any more."""

    lesson: str
    why: str = ""
    """A person's words."""
    reason: Reason | None = None
    """The reason of Interlock itself; a person gives theirs in `why`."""


@dataclass(frozen=True, slots=True)
class ScopeRequested(PhaseFact):
    """An agent asks to edit paths that were not expected of it."""

    paths: tuple[str, ...] = ()
    why: str = ""
    reserved: tuple[str, ...] = ()
    """Those of them that only a person may change."""


@dataclass(frozen=True, slots=True)
class ScopeAnswered(Fact):
    """The answer to such a request: granted if no other task holds the paths, and none is reserved."""

    task: TaskId
    attempt: int
    paths: tuple[str, ...]
    granted: bool
    why: Reason | None = None
    request: int = 0
    """The position of the request in the log."""


@dataclass(frozen=True, slots=True)
class PoolMeasured(Fact):
    """Figures of the pool since the run began."""

    run: str
    figures: PoolFigures
