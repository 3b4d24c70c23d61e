"""Reasons that a task does not run, as data that every screen can phrase."""

from dataclasses import dataclass
from enum import StrEnum

from interlock.model.task import TaskId


class Why(StrEnum):
    """The kinds of reason."""

    ANSWER = "answer"
    NEEDS = "needs"
    NEEDS_FAILED = "needs-failed"
    PAUSED = "paused"
    NOT_SELECTED = "not-selected"
    CHECK = "check"
    BACKOFF = "backoff"
    SLOTS = "slots"
    CLUTCH = "clutch"
    LEASE = "lease"
    OVERLAP = "overlap"
    LANE = "lane"
    STOPPING = "stopping"
    NO_RUN = "no-run"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause, with the tasks and the moment it is about."""

    why: Why
    text: str
    tasks: tuple[TaskId, ...] = ()
    until: float | None = None
    """Database time at which it ends by itself."""
