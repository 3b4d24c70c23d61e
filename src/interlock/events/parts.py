"""The parts of a task's state, one for each side of its life. Only `fold` writes to them."""

from dataclasses import dataclass

from interlock.model.evidence import UNCHECKED, Evidence
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.task import Commit, Tree
from interlock.model.unwanted import LeftOut


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed phase, as the next attempt is told of it."""

    attempt: int
    phase: str
    error: ErrorClass
    summary: str
    fingerprint: str
    feedback: str
    log: str = ""
    commit: Commit | None = None
    """What the attempt had made, if anything, and what from."""
    base: Commit = Commit("")
    command: str = ""
    """The check that was red, if one was."""
    agent: str = ""
    """Who had the attempt."""
    left_out: tuple[LeftOut, ...] = ()
    """Files of the attempt that would not have landed."""


@dataclass(frozen=True, slots=True)
class Work:
    """What an agent made."""

    attempt: int
    commit: Commit
    base: Commit
    touched: tuple[str, ...]
    seq: int
    """The log position at which it joined the train: its place in the queue."""
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """The change as a commit on top of `base`: being checked, or passed."""

    commit: Commit
    tree: Tree
    base: Commit
    evidence: Evidence = UNCHECKED
    """What its checks came to."""
    results: tuple[CheckResult, ...] = ()
    """What they will have shown of main once it lands."""
    branch: str = ""
    """The commit that it landed as."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An agent's session, as it was announced."""

    attempt: int
    session: str
    use: str
    model: str
    sandbox: str
    base: Commit
