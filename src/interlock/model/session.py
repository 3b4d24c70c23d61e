"""Events of an agent's session: one form for all programs."""

from dataclasses import dataclass
from enum import StrEnum

from interlock.model.outcome import ErrorClass
from interlock.model.usage import Usage

__all__ = ["Event", "EventKind", "Usage"]


class EventKind(StrEnum):
    """The subject of an event."""

    SESSION = "session"
    """The program says who it is: `session`, `model`."""
    MESSAGE = "message"
    """The model's text: `text`."""
    TOOL = "tool"
    """The agent wants to use a tool: `call`, `tool`, and its argument in `text`."""
    RESULT = "result"
    """The end of the tool: `call`, `ok`, `text`."""
    EDIT = "edit"
    """The agent changed a file: `path`."""
    COMMAND = "command"
    """The agent ran a command: `text`, `exit_code`."""
    USAGE = "usage"
    """Tokens and money: `usage`."""
    RETRY = "retry"
    """The model did not answer well and is asked again: `error`, `text`."""
    DENIED = "denied"
    """The agent was not allowed to do something: `tool`, `text`."""
    ASKED = "asked"
    """The agent asks for permission: `call`, `tool`, `text`; `ok` if answered, else a person has to."""
    ERROR = "error"
    """Something went wrong for good: `error`, `text`."""
    END = "end"
    """The session is over: `ok`, and why in `text`."""


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """The record of a session that is over."""

    reason: str
    """`done`, `asked`, the class of an error, `stopped` or `lost`."""
    summary: str
    """The agent's last message, or the way it ended."""
    path: str
    """The path of the whole record, relative to the state folder."""


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
    """Of the session until now. Any event may have it: what is told only at the end is lost with a kill."""
