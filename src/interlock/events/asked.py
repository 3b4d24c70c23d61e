"""What agents ask, and what people and the schedule tell them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said to the agent of a task."""

    seq: int
    """Its position in the log: its name."""
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What an attempt ended with, for a person to answer."""

    attempt: int
    text: str
    message: str = ""
    """The whole of the agent's last message."""
    answer: str | None = None
    """None: no person has answered yet."""


@dataclass(frozen=True, slots=True)
class Permission:
    """What an agent asks leave for."""

    attempt: int
    call: str
    tool: str
    text: str
    allow: bool | None = None
    """What a person said; None: nothing yet."""


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """What an agent asks to edit in addition to what was expected."""

    seq: int
    """Its position in the log: its name."""
    attempt: int
    paths: tuple[str, ...]
    why: str = ""
    granted: bool | None = None
    """None: nobody has answered yet."""
    answer: str = ""

    @property
    def is_answered(self) -> bool:
        """Has it been decided on."""
        return self.granted is not None


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The end of an agent's last session."""

    attempt: int
    reason: str
    summary: str
    path: str
