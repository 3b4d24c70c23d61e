"""Facts about a main that another hand made red."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact
from interlock.model.task import Commit, TaskId, Tree


@dataclass(frozen=True, slots=True)
class MainJudged(Fact):
    """The project's checks ran on a main that another hand had moved."""

    commit: Commit
    tree: Tree = Tree("")
    red: tuple[str, ...] = ()
    """Checks that fail there and passed before. While there is one, only a fix or a revert lands."""


@dataclass(frozen=True, slots=True)
class CulpritFound(Fact):
    """The commits since main was green were searched for the one that made a check red."""

    main: Commit
    command: str = ""
    commit: Commit = Commit("")
    """The first commit on which the check fails; empty: none was found."""
    author: str = ""
    subject: str = ""
    landed_by: TaskId = TaskId("")
    """The task that landed it."""
    conflicts: tuple[str, ...] = ()
    """The paths in which later commits are in the way of a revert."""
    reverted_by: TaskId = TaskId("")
    """The task that reverts it; empty: a person has to decide."""
    fails_before: bool = False
    """The check fails on the last green commit too: no commit is to blame, and main is not frozen."""
