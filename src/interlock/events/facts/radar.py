"""Facts about changes that are being made at the same time and conflict."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact
from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class OverlapSeen(Fact):
    """Two changes cannot be merged as they are now; or other paths of theirs conflict than before."""

    task: TaskId
    attempt: int = 0
    other: TaskId = TaskId("")
    """The task of the other change; empty: it is main."""
    other_attempt: int = 0
    paths: tuple[str, ...] = ()
    """The first of the paths that conflict."""
    count: int = 0
    """The number of all of them."""


@dataclass(frozen=True, slots=True)
class GaveWay(Fact):
    """A finished change went behind one that was finished later, because the two conflict."""

    task: TaskId
    attempt: int = 0
    other: TaskId = TaskId("")
    """The task that lands first."""
    other_attempt: int = 0
    by: str = ""
    """The reason: the other has more `overlaps` with work under way, or more was `spent` on it."""


@dataclass(frozen=True, slots=True)
class OverlapGone(Fact):
    """The two can be merged again."""

    task: TaskId
    attempt: int = 0
    other: TaskId = TaskId("")
    other_attempt: int = 0
