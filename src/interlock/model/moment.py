"""The moments of an agent's session that commands of the user can hear of."""

from enum import StrEnum


class Moment(StrEnum):
    """The point of a session at which a command runs. The names are those that agent programs use."""

    SESSION_START = "SessionStart"
    """The agent is about to start."""
    PROMPT = "UserPromptSubmit"
    """The agent is about to start, and this is its prompt."""
    BEFORE_TOOL = "PreToolUse"
    AFTER_TOOL = "PostToolUse"
    BEFORE_COMPACT = "PreCompact"
    """The agent is about to shorten its own memory of the session."""
    STOP = "Stop"
    """The agent thinks that it is done."""
    SESSION_END = "SessionEnd"
    """The session is over, whatever ended it; its notes are written."""
