"""Requests of agents, and the answers of people and the schedule."""

from dataclasses import dataclass

from interlock.model.reason import Reason


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a person to the agent of a task."""

    seq: int
    """Position in the log, which names it."""
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """The question that an attempt ended with, for a person to answer."""

    attempt: int
    text: str
    message: str = ""
    """The whole of the agent's last message."""
    answer: str | None = None
    """The answer; None while there is none."""


@dataclass(frozen=True, slots=True)
class Permission:
    """An agent's request for permission."""

    attempt: int
    call: str
    tool: str
    text: str
    allow: bool | None = None
    """The answer of a person; None while there is none."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A task that an agent proposes."""

    attempt: int
    id: str
    goal: str
    needs: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    time: float = 0.0
    declined: bool = False


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """An agent's request to edit more paths than were expected."""

    seq: int
    """Position in the log, which names it."""
    attempt: int
    paths: tuple[str, ...]
    why: str = ""
    reserved: tuple[str, ...] = ()
    """Those of them that only a person may change."""
    granted: bool | None = None
    """The answer; None while there is none."""
    answer: Reason | None = None

    @property
    def is_answered(self) -> bool:
        return self.granted is not None


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The end of an agent's last session."""

    attempt: int
    reason: str
    summary: str
    path: str
