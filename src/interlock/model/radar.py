"""Overlaps of changes that are being made at the same time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.model.task import AttemptKey, Commit, TaskId

MAIN = TaskId("")
"""Stands where the other task of an overlap is named, for main."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A finished change that is not on main yet."""

    key: AttemptKey
    commit: Commit
    base: Commit
    touched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two changes that git cannot merge as they are now."""

    task: TaskId
    attempt: int
    other: TaskId
    """The task of the other change, later in the alphabet; `MAIN`: main."""
    other_attempt: int
    paths: tuple[str, ...]
    """The first of the paths that conflict."""
    count: int
    """The number of all of them."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The result of one look at all running workspaces."""

    overlaps: tuple[Overlap, ...] = ()
    unseen: Mapping[TaskId, str] = field(default_factory=dict)
    """Tasks whose workspaces were not compared, each with the cause."""
