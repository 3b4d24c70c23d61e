"""Facts about the review of a tested change, before it lands."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact, PhaseFact
from interlock.model.reason import Reason
from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class ReviewOpened(PhaseFact):
    """A tested change needs the approval of a person. The task waits for that, and holds no slot."""

    digest: str = ""
    """Digest of the lines that the change adds and removes: a merge onto another main leaves it as it is."""
    work: Commit = Commit("")
    """The commit of its agent."""
    base: Commit = Commit("")
    commit: Commit = Commit("")
    """The tested commit, on top of `base`."""
    why: Reason | None = None


@dataclass(frozen=True, slots=True)
class ReviewCommented(Fact):
    """A person commented on a change that waits for review."""

    task: TaskId
    digest: str = ""
    work: Commit = Commit("")
    text: str = ""
    path: str = ""
    """The file that it is about; empty: the whole change."""
    line: int = 0
    """The line of the file as the change leaves it; 0: the whole file."""
    around: str = ""
    """That line with those around it, each with its number."""


@dataclass(frozen=True, slots=True)
class ReviewApproved(Fact):
    """A person approved a change: it may land as long as nothing alters it."""

    task: TaskId
    digest: str = ""
    work: Commit = Commit("")
    commit: Commit = Commit("")
    """The tested commit that was shown."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRejected(Fact):
    """A person rejected a change: the task goes back to its agent."""

    task: TaskId
    digest: str = ""
    work: Commit = Commit("")
    note: str = ""
    feedback: str = ""
    """The note and the comments, for the next prompt."""
