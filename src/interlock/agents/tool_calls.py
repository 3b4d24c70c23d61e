"""The tool calls of a session. Results name only the call's id, so what it was is kept until then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interlock.agents.json_lines import Json, compact
from interlock.model.session import Event, EventKind


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a program that do more than look."""

    edits: Mapping[str, str]
    """The argument that names the file, by tool."""
    commands: Mapping[str, str]
    """The argument that is the command, by tool."""


class ToolCalls:
    """The calls that a session has made so far."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._open: dict[str, tuple[str, Json]] = {}

    def begun(self, call: str, tool: str, given: Json) -> Event:
        self._open[call] = (tool, given)
        return Event(EventKind.TOOL, compact(given.fields), call=call, tool=tool)

    def ended(self, call: str, ok: bool, text: str, exit_code: int | None = None) -> Sequence[Event]:
        """The tool has ended: what it did, and its result."""
        tool, given = self._open.pop(call, ("", Json()))
        result = Event(EventKind.RESULT, text, call=call, tool=tool, ok=ok)
        if tool in self._tools.commands:
            command = given.text(self._tools.commands[tool])
            return [Event(EventKind.COMMAND, command, call=call, tool=tool, exit_code=exit_code), result]
        if ok and tool in self._tools.edits:
            path = given.text(self._tools.edits[tool])
            return [Event(EventKind.EDIT, call=call, tool=tool, path=path), result]
        return [result]

    def denied(self, call: str, text: str) -> Sequence[Event]:
        """The program did not let it use the tool."""
        tool, _ = self._open.pop(call, ("", Json()))
        return [
            Event(EventKind.DENIED, text, call=call, tool=tool, ok=False),
            Event(EventKind.RESULT, text, call=call, tool=tool, ok=False),
        ]


def result_text(block: Json) -> str:
    parts = "\n".join(part.text("text") for part in block.items("content"))
    return block.text("content") or parts
