"""What a protocol knows: how to read a request; how to write an answer whole, in pieces, or as an error."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.agents.model_server.conversation import Conversation, Json, Reply

EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Wire:
    """One of the five protocols."""

    name: str
    read: Callable[[Json], Conversation]
    whole: Callable[[Reply], Json]
    frames: Callable[[Reply, Conversation], list[bytes]]
    """The stream in the pieces a client sees; faults cut between two of them."""
    error: Callable[[int, str], Json]
    stream_type: str = EVENT_STREAM


def event(payload: Json, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(payload)}\n\n".encode()


def text_of(content: object) -> str:
    """The words of a message whose content is a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def halves(text: str) -> tuple[str, str]:
    """Two pieces, so that every stream really has a middle."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
