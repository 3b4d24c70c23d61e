"""Codex, checked with 0.166.

1. It names its sessions itself: the id to resume is in its first line.
2. Its own sandbox is off, since it runs in ours. With a home below the folder for temporary files it lacks
   commands of its own, so that folder is one in its home.
3. It waits without end for a server that refuses connections, and for the first byte of an answer: only the
   attempt's limits end that.
4. After a resume it counts the tokens of the earlier part again, so then nothing is claimed: the proxy has
   counted.
5. Standard input that is a pipe is read to its end first, and added to the prompt.
"""

import re
from collections.abc import Iterator, Sequence

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, compact, read_object
from interlock.agents.tally import SessionTally, early_error
from interlock.model.error_words import of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage

MODEL = "gpt-5.5"
PROVIDER = "interlock"
KEY = "INTERLOCK_MODEL_TOKEN"
TOOLS_KEY = "INTERLOCK_MCP_TOKEN"
RETRIES = 3
"""Enough for two refusals in a row."""
IDLE_MS = 180_000
"""Longest silence in the middle of an answer."""
TEMPORARY = "tmp"

_RECONNECTS = re.compile(r"^Reconnecting\.\.\. *(?:\d+/\d+)? *")
_SAID = {
    "stream closed before response.completed": ErrorClass.MODEL,
    "experiencing high demand": ErrorClass.OVERLOADED,
    "invalid_request_error": ErrorClass.BAD_REQUEST,
}
"""Error words of its own, which elsewhere mean something else or nothing."""


class Codex:
    """`use: codex`."""

    use = "codex"
    wire: Wire | None = Wire.OPENAI
    program = "codex"
    can_resume = True
    can_steer = False

    def launch(self, context: LaunchContext) -> Launch:
        agent = context.agent
        settings = {
            "model": agent.model or MODEL,
            "analytics.enabled": False,
            "check_for_update_on_startup": False,
            **({} if agent.login else _provider(context)),
            **(_tools(context) if context.tools_url else {}),
        }
        argv = (
            *(self.program, "exec", "--json", "--color", "never", "--disable", "plugins"),
            *("--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"),
            *(word for name, value in settings.items() for word in ("-c", f"{name}={compact(value)}")),
            *agent.args,
            *(("resume", context.resume) if context.resume else ()),
            # After this word a prompt that begins with a dash is no option.
            *("--", context.prompt),
        )
        env = {"CODEX_HOME": f"{context.home}/.codex", "TMPDIR": f"{context.home}/{TEMPORARY}"}
        if context.tools_url:
            env[TOOLS_KEY] = context.tools_token
        return Launch(
            argv,
            env if agent.login else {**env, KEY: context.token},
            # Both folders must be there when it starts.
            {".codex/config.toml": "", f"{TEMPORARY}/.keep": ""},
            account=(".codex/auth.json",) if agent.login else (),
            hosts=("chatgpt.com:443", "auth.openai.com:443", "api.openai.com:443") if agent.login else (),
        )

    def reader(self, context: LaunchContext) -> "CodexReader":
        return CodexReader(context)


def _tools(context: LaunchContext) -> dict[str, object]:
    """Return the server of our tools. A call of one is never put to a person: nobody is there."""
    values = {
        "url": context.tools_url,
        "bearer_token_env_var": TOOLS_KEY,
        "default_tools_approval_mode": "approve",
    }
    return {f"mcp_servers.interlock.{name}": value for name, value in values.items()}


def _provider(context: LaunchContext) -> dict[str, object]:
    """Each by a name of its own: a whole table would have to be written as TOML."""
    values: dict[str, object] = {
        "name": PROVIDER,
        "base_url": f"{context.model_url}/v1",
        "env_key": KEY,
        "wire_api": "responses",
        "request_max_retries": RETRIES,
        "stream_max_retries": RETRIES,
        "stream_idle_timeout_ms": IDLE_MS,
    }
    named = {f"model_providers.{PROVIDER}.{name}": value for name, value in values.items()}
    return {"model_provider": PROVIDER, **named}


class CodexReader:
    """Reads `exec --json`."""

    def __init__(self, context: LaunchContext) -> None:
        self._tally = SessionTally(context.resume)
        self._is_counted = bool(context.resume and context.model_url)
        """The model proxy counts its calls, and its own sums begin with an earlier attempt."""
        self._before = context.used_before

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        return self._tally.note(early_error(line) if found is None else list(self._understood(found)))

    def _understood(self, found: Json) -> Iterator[Event]:
        match found.text("type"):
            case "thread.started":
                yield Event(EventKind.SESSION, session=found.text("thread_id"))
            case "item.started":
                yield from _begun(found.item("item"))
            case "item.completed":
                yield from _ended(found.item("item"))
            case "error":
                yield _trouble(found.text("message"))
            case "turn.completed":
                if not self._is_counted:
                    used = _usage(found.item("usage")).since(self._before)
                    yield Event(EventKind.USAGE, usage=used)
                yield Event(EventKind.END, self._tally.message)
            case "turn.failed":
                text = found.text("error", "message")
                yield Event(EventKind.END, _words(text), ok=False, error=_class_of(text))
            case _:
                pass

    def verdict(self, exited: Exit) -> SessionVerdict:
        return self._tally.verdict(exited)


def _begun(item: Json) -> Iterator[Event]:
    call, kind = item.text("id"), item.text("type")
    match kind:
        case "command_execution":
            yield Event(EventKind.TOOL, item.text("command"), call=call, tool=kind)
        case "file_change":
            paths = " ".join(change.text("path") for change in item.items("changes"))
            yield Event(EventKind.TOOL, paths, call=call, tool=kind)
        case "mcp_tool_call":
            yield Event(EventKind.TOOL, compact(item.at("arguments")), call=call, tool=item.text("tool"))
        case _:
            pass


def _ended(item: Json) -> Iterator[Event]:
    call, kind, ok = item.text("id"), item.text("type"), item.text("status") == "completed"
    match kind:
        case "agent_message" if item.text("text").strip():
            yield Event(EventKind.MESSAGE, item.text("text"))
        case "command_execution":
            command, code = item.text("command"), item.code("exit_code")
            yield Event(EventKind.COMMAND, command, call=call, tool=kind, exit_code=code)
            yield Event(EventKind.RESULT, item.text("aggregated_output"), call=call, tool=kind, ok=ok)
        case "file_change":
            for change in item.items("changes") if ok else ():
                yield Event(EventKind.EDIT, call=call, tool=kind, path=change.text("path"))
            yield Event(EventKind.RESULT, call=call, tool=kind, ok=ok)
        case "mcp_tool_call":
            text = item.text("error", "message") or compact(item.at("result"))
            yield Event(EventKind.RESULT, text, call=call, tool=item.text("tool"), ok=ok)
        case _:
            pass


def _trouble(text: str) -> Event:
    """Return a retry for text that says it reconnects, else an error."""
    reconnects = _RECONNECTS.match(text)
    if not reconnects:
        return Event(EventKind.ERROR, _words(text), error=_class_of(text))
    why = text[reconnects.end() :].strip("()")
    return Event(EventKind.RETRY, why, error=_class_of(why))


def _words(text: str) -> str:
    """At times its words are all that the provider sent."""
    sent = read_object(text)
    return (sent.text("error", "message") if sent else "") or text


def _class_of(text: str) -> ErrorClass:
    known = of_text(text)
    if known in (ErrorClass.CONTEXT, ErrorClass.QUOTA):
        return known
    own = next((error for words, error in _SAID.items() if words in text), None)
    return own or known or ErrorClass.MODEL


def _usage(found: Json) -> Usage:
    """Its input tokens are all of them, its output tokens those of thinking too."""
    return Usage(
        found.number("input_tokens"), found.number("output_tokens"), found.number("cached_input_tokens")
    )
