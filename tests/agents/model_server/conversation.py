"""What a request says, once the differences between the five protocols are taken away. Pure."""

import re
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]  # JSON of five vendors, read by key and never trusted further than that

_NOT_FROM_A_PERSON = re.compile(r"<(system-reminder|environment_context|session_context)>.*?</\1>", re.DOTALL)
_WORKING_FOLDER = re.compile(
    r"(?:working directory|working in the directory|workspace director\w+|<cwd>)[^/\n]{0,40}(?:\n\s*[-*] )?"
    r"(/[^\s<>`\"',)]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as the client declares it."""

    name: str
    schema: Json
    freeform: bool = False
    """It takes plain text instead of JSON arguments (Codex's `apply_patch`)."""

    @property
    def properties(self) -> Json:
        found = self.schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> list[str]:
        return list(self.schema.get("required") or [])


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: int = 0
    """How many tools an assistant message calls."""

    @property
    def is_from_a_person(self) -> bool:
        """Clients also speak as the user on their own behalf: reminders, the environment."""
        return self.role == "user" and bool(_NOT_FROM_A_PERSON.sub("", self.text).strip())


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole request. The server has no memory: where a script stands is read off the messages."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    streaming: bool = False
    usage_wanted: bool = True
    """OpenAI's chat protocol reports usage in a stream only when asked."""

    @property
    def step(self) -> int:
        """How many tool-calling turns have passed since a person last spoke."""
        steps = 0
        for message in self.messages:
            if message.is_from_a_person:
                steps = 0
            elif message.role == "assistant" and message.calls:
                steps += 1
        return steps

    @property
    def turn(self) -> int:
        """How many times the model has spoken at all: makes ids unique over a resumed conversation."""
        return sum(message.role == "assistant" for message in self.messages)

    @property
    def prompt(self) -> str:
        """What a person last said."""
        return next((m.text for m in reversed(self.messages) if m.is_from_a_person), "")

    @property
    def text(self) -> str:
        return "\n".join(message.text for message in self.messages)

    @property
    def working_folder(self) -> str | None:
        """Where the client says it works; several demand absolute paths."""
        found = _WORKING_FOLDER.search(self.text)
        return found.group(1).rstrip("/.") if found else None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as every protocol's own input field reports them."""

    input: int
    output: int
    cached: int


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. Freeform tools get a string."""

    id: str
    name: str
    arguments: Json | str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: text, or tool calls, or both."""

    id: str
    model: str
    usage: Usage
    text: str = ""
    calls: tuple[Call, ...] = ()


def usage_of(step: int) -> Usage:
    """Fixed, so that sums can be asserted: the basic script makes 3 calls, 3300 in and 150 out."""
    return Usage(input=1000 + 100 * step, output=50, cached=10)
