"""OpenCode, checked with 1.18.

1. It has no line that says how a session ended. The end is good if the last step stopped by itself, it used
   tokens and the exit status is 0; a refused tool also ends it with 0, but in the middle of a step.
2. A prompt that is a word of the command reaches the model in quotes, and words that are numbers break it. On
   standard input it arrives as it is, and the program starts only when that is closed.
3. It asks a model that does not answer again without end, and says so only in its log: that is shown too.
4. A model that answers nothing makes it spin without end; the limits of the attempt end that.
5. A session that is continued in another folder hangs: no resume. Several first starts in one home break each
   other's database: every attempt has its own home.
"""

import re
from collections.abc import Sequence

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, compact, read_object
from interlock.agents.tally import SessionTally
from interlock.agents.tool_calls import ToolCalls, Tools
from interlock.model.error_words import of_status, of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage

MODEL = "gpt-5.1"
PROVIDER = "interlock"
TOOLS = Tools(
    {"write": "filePath", "edit": "filePath", "patch": "filePath", "multiedit": "filePath"},
    {"bash": "command"},
)

_STREAM_ERROR = ("level=ERROR ", 'message="stream error"', ' error.error="')
"""Parts of a log line about an unavailable model, in this order."""
_ASIDE = re.compile(r"\bsmall=true\b")
"""A call beside the work, for a title: that it fails does not matter."""
_REJECTED = re.compile(
    r"rejected permission|prevents you from using|permission.{0,40}den(y|ied)", re.IGNORECASE
)
_NOTHING = Usage()


class Opencode:
    """`use: opencode`."""

    use = "opencode"
    wire: Wire | None = Wire.OPENAI
    program = "opencode"
    can_resume = False
    can_steer = False

    def launch(self, context: LaunchContext) -> Launch:
        agent = context.agent
        argv = (
            *(self.program, "run", "--format", "json", "--print-logs", "--log-level", "ERROR"),
            # With a title it does not ask the model for one.
            *("--title", "Interlock", *(("--model", agent.model) if agent.login and agent.model else ())),
            *agent.args,
        )
        env = {
            "OPENCODE_CONFIG_CONTENT": compact(_config(context)),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }
        account = (".local/share/opencode/auth.json",) if agent.login else ()
        return Launch(argv, env, account=account, say=context.prompt)

    def reader(self, _context: LaunchContext) -> "OpencodeReader":
        return OpencodeReader()


def _config(context: LaunchContext) -> dict[str, object]:
    allowed = {"permission": {"*": "allow"}, "autoupdate": False, "share": "disabled", **_tools(context)}
    if context.agent.login:
        return allowed
    name = context.agent.model or MODEL
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": PROVIDER,
        "options": {"baseURL": f"{context.model_url}/v1", "apiKey": context.token},
        "models": {name: {"name": name}},
    }
    model = f"{PROVIDER}/{name}"
    return allowed | {
        "provider": {PROVIDER: provider},
        "enabled_providers": [PROVIDER],
        "model": model,
        "small_model": model,
    }


def _tools(context: LaunchContext) -> dict[str, object]:
    """Return the server of our tools, if there is one."""
    headers = {"Authorization": f"Bearer {context.tools_token}"}
    server = {"type": "remote", "url": context.tools_url, "headers": headers, "oauth": False}
    return {"mcp": {"interlock": server}} if context.tools_url else {}


class OpencodeReader:
    """Reads `--format json` and the errors of its log."""

    def __init__(self) -> None:
        self._tally = SessionTally()
        self._calls = ToolCalls(TOOLS)
        self._usage = _NOTHING
        self._reason = ""
        """The reason that the last step ended."""
        self._denied = ""
        """The text that refused the last tool."""

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        return self._tally.note(self._noise(line) if found is None else self._understood(found))

    def _noise(self, line: str) -> Sequence[Event]:
        text = line
        for part in _STREAM_ERROR:
            _, found, text = text.partition(part)
            if not found:
                return []
        text = text.rpartition('"')[0]
        if _ASIDE.search(line):
            return []
        return [Event(EventKind.RETRY, text, error=of_text(text) or ErrorClass.MODEL)]

    def _understood(self, found: Json) -> Sequence[Event]:
        part = found.item("part")
        match found.text("type"):
            case "step_start":
                self._reason = self._denied = ""
                return self._introduced(found.text("sessionID"))
            case "text" if part.text("text").strip():
                return [Event(EventKind.MESSAGE, part.text("text"))]
            case "tool_use":
                return self._tool(part)
            case "step_finish":
                return self._step(part)
            case "error":
                return [*self._introduced(found.text("sessionID")), _failure(found.item("error"))]
            case _:
                return []

    def _introduced(self, session: str) -> Sequence[Event]:
        """No line says so by itself: the first one that names the session does."""
        known = self._tally.session == session
        return [] if known else [Event(EventKind.SESSION, session=session)]

    def _tool(self, part: Json) -> Sequence[Event]:
        """Note a tool call, which this program reports only when it has ended."""
        call, state = part.text("callID"), part.item("state")
        begun = self._calls.begun(call, part.text("tool"), state.item("input"))
        if state.text("status") == "completed":
            code = state.code("metadata", "exit")
            ended = self._calls.ended(call, True, state.text("output"), code)
            return [begun, *_patched(call, part.text("tool"), state), *ended]
        text = state.text("error")
        if _REJECTED.search(text):
            self._denied = text
            return [begun, *self._calls.denied(call, text)]
        return [begun, *self._calls.ended(call, False, text)]

    def _step(self, part: Json) -> Sequence[Event]:
        self._reason = part.text("reason")
        self._usage += _step_usage(part)
        return [Event(EventKind.USAGE, usage=self._usage)]

    def verdict(self, exited: Exit) -> SessionVerdict:
        self._tally.note([self._end()])
        return self._tally.verdict(exited)

    def _end(self) -> Event:
        if self._reason == "stop" and self._usage.output_tokens:
            return Event(EventKind.END, self._tally.message)
        if self._usage.calls and not self._usage.output_tokens:
            why = f"its model said nothing, {self._usage.calls} times"
            return Event(EventKind.END, why, ok=False, error=ErrorClass.MODEL)
        if self._reason == "length":
            why = "its model's answer was cut off: too long"
            return Event(EventKind.END, why, ok=False, error=ErrorClass.CONTEXT)
        if self._denied:
            return Event(EventKind.END, self._denied, ok=False, error=ErrorClass.DENIED)
        return Event(EventKind.END, "", ok=False)


def _patched(call: str, tool: str, state: Json) -> Sequence[Event]:
    """A patch names its files only in the result."""
    files = state.items("metadata", "files") if tool == "apply_patch" else ()
    return [Event(EventKind.EDIT, call=call, tool=tool, path=file.text("filePath")) for file in files]


def _failure(error: Json) -> Event:
    text = error.text("data", "message") or error.text("message") or error.text("name")
    known = of_status(error.number("data", "statusCode"), f"{text} {error.text('data', 'responseBody')}")
    overflow = ErrorClass.CONTEXT if "ContextOverflow" in error.text("name") else None
    return Event(EventKind.ERROR, text, error=overflow or known or of_text(text) or ErrorClass.MODEL)


def _step_usage(part: Json) -> Usage:
    """Its input tokens are those that did not come from a cache."""
    tokens = part.item("tokens")
    cached = tokens.number("cache", "read")
    whole = tokens.number("input") + cached + tokens.number("cache", "write")
    output = tokens.number("output") + tokens.number("reasoning")
    # A cost of 0 is no price known, not a gift.
    return Usage(whole, output, cached, 1, part.amount("cost") or None)
