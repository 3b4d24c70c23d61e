"""Session updates turned into events. A message comes in chunks, and is reported as a whole."""

from dataclasses import dataclass, field

from acp.schema import (
    AgentMessageChunk,
    ContentToolCallContent,
    FileEditToolCallContent,
    SessionNotification,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
)
from acp.schema import Usage as TurnUsage

from interlock.agents.json_lines import Json
from interlock.model.session import Event, EventKind
from interlock.model.usage import REPORTED, Usage

MESSAGE_CHARS = 64_000
CALLS_KEPT = 1_000


@dataclass(slots=True)
class _ToolCall:
    """A tool call so far: every update has a part of it."""

    kind: str = ""
    title: str = ""
    command: str = ""
    paths: list[str] = field(default_factory=list)
    output: str = ""
    exit_code: int | None = None
    is_over: bool = False


class UpdateReader:
    """The events of one session, from its updates."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._crumbs = ""
        self._calls: dict[str, _ToolCall] = {}
        self._usage = Usage()
        self._cost_usd: float | None = None
        """Of the session until now."""
        self.used_tools = False

    def update(self, said: SessionNotification) -> list[Event]:
        """Return the events of an update; thoughts, plans and modes have none."""
        match said.update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._crumbs = (self._crumbs + text)[-MESSAGE_CHARS:]
                return []
            case ToolCallStart() | ToolCallProgress() as call:
                return [*self.message(), *self._progress(call)]
            case UsageUpdate(cost=cost) if cost is not None and cost.currency == "USD":
                self._cost_usd = cost.amount
                return [self._used()]
            case _:
                return []

    def message(self) -> list[Event]:
        """The message that is complete now, if there is one."""
        text, self._crumbs = self._crumbs.strip(), ""
        return [Event(EventKind.MESSAGE, text)] if text else []

    def turn_usage(self, used: TurnUsage | None) -> list[Event]:
        """Tokens of a turn by the program's own count, which differs from program to program."""
        if used is None:
            return []
        cached = used.cached_read_tokens or 0
        self._usage += Usage(used.input_tokens, used.output_tokens, cached)
        return [self._used()]

    def _used(self) -> Event:
        return Event(EventKind.USAGE, usage=self._usage.priced(self._cost_usd, REPORTED))

    def asked(self, call: ToolCallUpdate, is_answered: bool) -> list[Event]:
        """Note a request for permission. Some programs mention the call here for the first time."""
        first = self._progress(call)
        return [*self.message(), *first, self._about(EventKind.ASKED, call.tool_call_id, is_answered)]

    def decided(self, call: str, allow: bool) -> Event:
        """Its question was answered."""
        return self._about(EventKind.ASKED if allow else EventKind.DENIED, call, True)

    def _about(self, kind: EventKind, call: str, ok: bool) -> Event:
        known = self._calls.get(call, _ToolCall())
        return Event(kind, known.command or known.title, call=call, tool=known.kind, ok=ok)

    def _progress(self, call: ToolCallStart | ToolCallUpdate) -> list[Event]:
        known = self._calls.get(call.tool_call_id)
        begins = known is None
        if known is None:
            if len(self._calls) >= CALLS_KEPT:
                del self._calls[next(iter(self._calls))]
            known = self._calls[call.tool_call_id] = _ToolCall()
        self.used_tools = True
        self._learn(known, call)
        events = []
        if begins:
            text = known.command or known.title
            events.append(Event(EventKind.TOOL, text, call=call.tool_call_id, tool=known.kind))
        if call.status in ("completed", "failed") and not known.is_over:
            known.is_over = True
            events += self._ended(call.tool_call_id, known, call.status == "completed")
        return events

    def _learn(self, known: _ToolCall, call: ToolCallStart | ToolCallUpdate) -> None:
        known.kind = call.kind or known.kind or "other"
        known.title = call.title or known.title
        given = Json(call.raw_input) if isinstance(call.raw_input, dict) else Json()
        known.command = given.text("command") or known.command
        if isinstance(call.raw_output, dict):
            output = Json(call.raw_output)
            known.exit_code = next(
                (code for name in ("exit_code", "exitCode") if (code := output.code(name)) is not None),
                known.exit_code,
            )
        for part in call.content or ():
            match part:
                case FileEditToolCallContent(path=path):
                    if path not in known.paths:
                        known.paths.append(path)
                case ContentToolCallContent(content=TextContentBlock(text=text)):
                    known.output = text
                case _:
                    pass
        if known.kind == "edit" and not known.paths:
            known.paths += [place.path for place in call.locations or ()]

    def _ended(self, call: str, known: _ToolCall, ok: bool) -> list[Event]:
        events = []
        if known.kind == "execute":
            events.append(Event(EventKind.COMMAND, known.command or known.title, exit_code=known.exit_code))
        if ok:
            events += [Event(EventKind.EDIT, path=self._below(path)) for path in known.paths]
        return [*events, Event(EventKind.RESULT, known.output, call=call, tool=known.kind, ok=ok)]

    def _below(self, path: str) -> str:
        return path.removeprefix(self._workspace.rstrip("/") + "/")
