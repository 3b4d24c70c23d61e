"""The parts of State, without those of a task (`task_parts`). Only `fold` writes to them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from interlock.model.lesson import Lesson
from interlock.model.pool import PoolFigures
from interlock.model.reason import Reason
from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class Limit:
    """The last limit of the clutch on agents at work at once on one kind of work."""

    limit: int
    brake: str
    why: Reason | None
    time: float
    evidence: dict[str, float] = field(default_factory=dict)
    goodput: int = 0
    """The number that the goodput brake alone allows; 0: it was not asked."""
    until: float = 0.0
    """End of a limit of 0."""
    landed: int = 0
    """Landings with all agents at work, since that number is being tried."""
    troubled: int = 0
    """Conflicts and red checks with all agents at work."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server or credential, as its brake said last."""

    limit: float
    why: Reason | None
    until: float
    time: float
    calls: int = 0
    """Over all runs."""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Warm:
    """The last agent that worked on a story."""

    task: TaskId
    agent: str
    time: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The pool's figures, as a run wrote them down last."""

    run: str
    time: float
    figures: PoolFigures


@dataclass(slots=True)
class LessonState:
    """A lesson, and how attempts fared with it and without."""

    lesson: Lesson
    learned: int = 1
    """Number of landings that have shown it."""
    shown_by: tuple[Commit, ...] = ()
    """The last of these landings."""
    with_tried: float = 0.0
    with_landed: float = 0.0
    without_tried: float = 0.0
    without_landed: float = 0.0
    retired: Reason | None = None
    """The reason why it is no longer offered."""

    @property
    def is_trusted(self) -> bool:
        """A person wrote it, or most attempts with it have landed."""
        return bool(self.lesson.author) or 2 * self.with_landed > self.with_tried


@dataclass(slots=True)
class RunState:
    """The loop that is (or was last) in charge."""

    run: str
    holder: str
    generation: int
    limit: int
    selection: frozenset[TaskId] | None
    started: float
    stopping: bool = False
    stop_agents: bool = False
    ended: float | None = None
    ended_why: Reason | None = None
    sandbox: str = ""
    slots: dict[str, int] = field(default_factory=dict)
    """The most agents of each role at once."""
    brake: Limit | None = None
    """The last limit of the clutch on all agents together."""
    lane_depth: int = 1
    environment: str = ""
    """Digest of what decides the result of a check besides the tree; empty: main is not checked first."""


class Finished(NamedTuple):
    """A task that was done long ago."""

    accepted: int
    """Its place in the list of tasks (`TaskState.accepted`)."""
    commit: Commit
    """The commit that landed; empty: it was found done."""
    branch: str
    packed: bytes
    """All of its `TaskState`."""
