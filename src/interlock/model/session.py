"""What an agent's session says while it runs: one form for all programs."""

from dataclasses import dataclass
from enum import StrEnum

from interlock.model.outcome import ErrorClass
from interlock.model.usage import Usage

__all__ = ["Event", "EventKind", "Usage"]


class EventKind(StrEnum):
    """What an event is about."""

    SESSION = "session"
    """The program says who it is: `session`, `model`."""
    MESSAGE = "message"
    """What the model wrote: `text`."""
    TOOL = "tool"
    """It wants to use a tool: `call`, `tool`, and what with in `text`."""
    RESULT = "result"
    """How the tool ended: `call`, `ok`, `text`."""
    EDIT = "edit"
    """It changed a file: `path`."""
    COMMAND = "command"
    """It ran a command: `text`, `exit_code`."""
    USAGE = "usage"
    """Tokens and money: `usage`."""
    RETRY = "retry"
    """The model did not answer well and is asked again: `error`, `text`."""
    DENIED = "denied"
    """It was not allowed to do something: `tool`, `text`."""
    ASKED = "asked"
    """It asks for leave: `call`, `tool`, `text`; `ok` once that is answered, else a person has to."""
    ERROR = "error"
    """Something went wrong for good: `error`, `text`."""
    END = "end"
    """The session is over: `ok`, and why in `text`."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What was written down about a session that is over."""

    reason: str
    """`done`, `asked`, the class of an error, `stopped` or `lost`."""
    summary: str
    """What the agent said last, or how it ended."""
    path: str
    """Where all of it is, relative to the state folder."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing a session said. Fields that its kind does not name are empty."""

    kind: EventKind
    text: str = ""
    session: str = ""
    model: str = ""
    call: str = ""
    """The id of the tool call, which its result names again."""
    tool: str = ""
    path: str = ""
    ok: bool = True
    exit_code: int | None = None
    error: ErrorClass | None = None
    usage: Usage | None = None
