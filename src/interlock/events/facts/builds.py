"""Facts about builds: checks of a change on top of others that are not on main yet."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact
from interlock.model.outcome import CheckResult
from interlock.model.reason import Reason
from interlock.model.task import Commit, TaskId, Tree


@dataclass(frozen=True, slots=True)
class BuildStarted(Fact):
    """A build began. Written in the same transaction that claimed its slot."""

    task: TaskId
    """The task whose change it tests."""
    slot: int = 0
    epoch: int = 0
    ahead: tuple[TaskId, ...] = ()
    """Tasks whose changes are merged below it, in this order: they are expected to land before it."""
    works: tuple[Commit, ...] = ()
    """The changes of those tasks, then its own."""
    main: Commit = Commit("")
    """The commit of main that all are merged onto."""
    holder: str = ""
    why: Reason | None = None
    batch: int = 1
    """The checks of so many changes run, its own and those right before it, so that these can land as one."""


@dataclass(frozen=True, slots=True)
class BuildEnded(Fact):
    """A build ended. It lands nothing: what its checks showed is known for the files that they saw."""

    task: TaskId
    slot: int = 0
    epoch: int = 0
    tree: Tree = Tree("")
    checks: tuple[CheckResult, ...] = ()
    joint: tuple[CheckResult, ...] = ()
    """Results of a green build of several changes, for all of them as one: without what `checks` says too."""
    conflicts: tuple[str, ...] = ()
    """Paths on which the changes conflict: then no check ran."""
    seconds: float = 0.0
    why: Reason | None = None
    """The reason that it came to no result."""
    retry_after_seconds: float = 0.0
    """The time for which no build starts, because of that reason."""
