"""Facts about changes that are proposed, and merged by a person or a forge."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact, PhaseFact
from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class PullRequestOpened(PhaseFact):
    """The tested commit was pushed to a branch of its own, and a pull request proposes it. The task waits
    until that is merged or closed. A later attempt updates the same pull request."""

    number: int = 0
    """0: there is no forge, only a patch."""
    url: str = ""
    """The address of the pull request; without a forge the path of the patch."""
    branch: str = ""
    base: Commit = Commit("")
    commit: Commit = Commit("")


@dataclass(frozen=True, slots=True)
class PullRequestSeen(Fact):
    """A pull request waits for something else than before."""

    task: TaskId
    number: int
    standing: str
    """`draft`, `checks-pending`, `checks-failed`, `review-required`, `approved` ..."""


@dataclass(frozen=True, slots=True)
class ReviewReceived(Fact):
    """A reviewer asks for changes of a pull request: the task goes back to its agent."""

    task: TaskId
    number: int
    author: str
    feedback: str
    """The words of the review, for the next prompt."""
    reviews: tuple[str, ...] = ()
    """The reviews that this answers, so that none counts twice."""
