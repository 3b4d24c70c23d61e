"""Pull requests: what is proposed, and what is known of it afterwards."""

from dataclasses import dataclass
from enum import StrEnum

from interlock.model.task import Commit, TaskId


class Standing(StrEnum):
    """The standing of a pull request: the thing it waits for, or its end."""

    OPEN = "open"
    DRAFT = "draft"
    CHECKS_PENDING = "checks-pending"
    CHECKS_FAILED = "checks-failed"
    REVIEW_REQUIRED = "review-required"
    CHANGES_REQUESTED = "changes-requested"
    APPROVED = "approved"
    CONFLICTS = "conflicts"
    """It cannot be merged into main as main is now."""
    BEHIND = "behind"
    """The forge merges it only on top of main as main is now."""
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A tested change that is to be reviewed and merged elsewhere."""

    task: TaskId
    title: str
    body: str
    branch: str
    """The branch that it is pushed to."""
    base_branch: str
    commit: Commit
    base: Commit
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal that was made."""

    number: int
    """0: there is no forge, only a patch."""
    url: str
    """Its address; the path of the patch."""


@dataclass(frozen=True, slots=True)
class Review:
    """A review that asks for changes."""

    id: str
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request, as the forge shows it."""

    standing: Standing
    merged_as: Commit = Commit("")
    """The commit on main that merged it, where the forge says so."""
    reviews: tuple[Review, ...] = ()
    """Those of people who may write to the repository, that ask for changes of the proposed commit."""
