"""Claude Code, checked with 2.1.325.

1. It has its own rules for what a model may do. They are off, since it runs in our sandbox; as root it
   accepts that only with a variable.
2. A model that cannot be asked is a `success` that `is_error`; ended by SIGINT it exits with 0.
3. It takes messages while it works, so its prompt is one, too; and it ends when its standard input does. Each
   message has an id, under which it says that the model gets it: now, or in a turn of its own after this one.
4. A session that goes on counts the money of its earlier part again, and of a model that it does not know it
   makes up the price. What is claimed is only of this run, and only where it knows the price.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, uuid5

from interlock.agents.adapter import Dialogue, Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, compact, read_object
from interlock.agents.tally import SessionTally, early_error
from interlock.agents.tool_calls import ToolCalls, Tools, result_text
from interlock.model.error_words import of_status, of_text
from interlock.model.moment import Moment
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind
from interlock.model.usage import REPORTED, Usage

RETRIES = 3
"""Enough for two refusals in a row; by itself it tries for minutes."""
ANSWER_MS = 180_000
"""Until an answer of the model begins."""
TOOLS_FILE = "interlock-mcp.json"
"""A file below its home: it holds a password, which is never a word of a command."""
HOOK_SECONDS = 3600
"""The commands outside have limits of their own."""
TOOLS = Tools(
    {
        "Write": "file_path",
        "Edit": "file_path",
        "MultiEdit": "file_path",
        "NotebookEdit": "notebook_path",
    },
    {"Bash": "command"},
)

_SUBTYPES = {
    "error_max_turns": ErrorClass.TURNS,
    "error_max_budget_usd": ErrorClass.BUDGET,
}
_EXIT_CODE = re.compile(r"^Exit code (\d{1,9})")
_NO_ANSWER = "empty or malformed response"
_OBJECTED = re.compile(r"^PreToolUse:\S+ hook error:")


class ClaudeCode:
    """`use: claude-code`."""

    use = "claude-code"
    wire: Wire | None = Wire.ANTHROPIC
    program = "claude"
    can_resume = True
    can_steer = True

    def launch(self, context: LaunchContext) -> Launch:
        agent = context.agent
        argv = (
            *(self.program, "--print", "--verbose"),
            *("--input-format", "stream-json", "--output-format", "stream-json", "--replay-user-messages"),
            *("--permission-mode", "bypassPermissions"),
            # It takes several files, so an option follows.
            *(("--mcp-config", f"{context.home}/{TOOLS_FILE}") if context.tools_url else ()),
            *(("--resume", context.resume) if context.resume else ("--session-id", context.session)),
            *(("--settings", compact(_settings(context))) if context.hooks else ()),
            *(("--model", agent.model) if agent.model else ()),
            *(("--max-budget-usd", f"{context.most_usd:.2f}") if context.most_usd is not None else ()),
            *agent.args,
        )
        return Launch(
            argv,
            {**_ENV, **({} if agent.login else _model(context))},
            {TOOLS_FILE: compact(_tools(context))} if context.tools_url else {},
            account=(".claude/.credentials.json", ".claude.json") if agent.login else (),
            hosts=_HOSTS if agent.login else (),
            say=_message(context.prompt, _id(context, 0)),
        )

    def reader(self, context: LaunchContext) -> Dialogue:
        return ClaudeCodeDialogue(context)


_ENV = {
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
    "API_TIMEOUT_MS": str(ANSWER_MS),
}
_HOSTS = ("api.anthropic.com:443", "claude.ai:443", "console.anthropic.com:443", "platform.claude.com:443")


def _model(context: LaunchContext) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": context.model_url, "ANTHROPIC_API_KEY": context.token}


def _tools(context: LaunchContext) -> dict[str, object]:
    """Return the server of our tools. Without `alwaysLoad` the model has to search for them first."""
    headers = {"Authorization": f"Bearer {context.tools_token}"}
    server = {"type": "http", "url": context.tools_url, "headers": headers, "alwaysLoad": True}
    return {"mcpServers": {"interlock": server}}


def _settings(context: LaunchContext) -> dict[str, object]:
    """Return the commands it runs at each moment, in the form of its settings."""
    return {"hooks": {moment: [_hook(context, moment, words)] for moment, words in context.hooks.items()}}


def _hook(context: LaunchContext, moment: str, words: Sequence[str]) -> dict[str, object]:
    command = {"type": "command", "command": shlex.join(words), "timeout": HOOK_SECONDS}
    is_narrow = moment == Moment.BEFORE_TOOL and context.hooked_tools
    return {"hooks": [command], **({"matcher": context.hooked_tools} if is_narrow else {})}


def _id(context: LaunchContext, number: int) -> str:
    """Of its messages, by number. A session that goes on has the same name and perhaps the same workspace,
    but a prompt of its own; the program drops a message with an id that it has seen before."""
    return str(uuid5(NAMESPACE_OID, f"{context.session} {context.prompt_file} {number}"))


def _message(text: str, id: str) -> str:
    said = {"type": "user", "uuid": id, "message": {"role": "user", "content": text}}
    return json.dumps(said) + "\n"


class ClaudeCodeDialogue:
    """Reads `--output-format stream-json`. It is over with the turn after which no message waits."""

    def __init__(self, context: LaunchContext) -> None:
        self.is_over = False
        self._context = context
        self._tally = SessionTally(context.resume or context.session)
        self._calls = ToolCalls(TOOLS)
        self._denied: set[str] = set()
        self._answers: set[str] = set()
        """The ids of the model's answers: each is told of in several lines."""
        self._usage = Usage()
        """Of the turns that have ended."""
        self._turn: dict[str, Usage] = {}
        """Of each answer in this turn, as it is known when the answer begins."""
        self._said = 1
        """The prompt is the first."""
        self._prompt = _id(context, 0)
        self._waiting = {self._prompt}
        self._out: list[str] = []

    def replies(self) -> Sequence[str]:
        out, self._out = self._out, []
        return out

    def say(self, text: str) -> None:
        """The model gets it after the tool that runs now."""
        id = _id(self._context, self._said)
        self._said += 1
        self._waiting.add(id)
        self._out.append(_message(text, id))

    def answer(self, call: str, allow: bool) -> Sequence[Event]:
        """Return no event: this program never asks."""
        del call, allow
        return []

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        return self._tally.note(early_error(line) if found is None else list(self._understood(found)))

    def _understood(self, found: Json) -> Iterator[Event]:
        match found.text("type"):
            case "system":
                yield from self._system(found)
            case "assistant":
                yield from self._assistant(found)
            case "user" if found.says("isReplay"):
                self._waiting.discard(found.text("uuid"))
            case "user":
                for block in found.items("message", "content"):
                    if block.text("type") == "tool_result":
                        yield from self._result(block)
            case "result":
                yield from self._end(found)
            case _:
                pass

    def _system(self, found: Json) -> Iterator[Event]:
        match found.text("subtype"):
            case "init":
                yield Event(EventKind.SESSION, session=found.text("session_id"), model=found.text("model"))
            case "api_retry":
                text = f"{found.number('error_status') or ''} {found.text('error')}".strip()
                error = of_status(found.number("error_status"), text) or of_text(text)
                yield Event(EventKind.RETRY, text, error=error)
            case "permission_denied":
                self._denied.add(found.text("tool_use_id"))  # the result, which says why, comes next
            case _:
                pass

    def _assistant(self, found: Json) -> Iterator[Event]:
        synthetic = found.text("message", "model") == "<synthetic>"
        if not synthetic:
            self._answers.add(found.text("message", "id"))
            self._turn[found.text("message", "id")] = _spent(found.item("message"))
        so_far = replace(sum(self._turn.values(), self._usage), calls=len(self._answers))
        for event in self._blocks(found, synthetic):
            yield replace(event, usage=so_far)

    def _blocks(self, found: Json, synthetic: bool) -> Iterator[Event]:
        for block in found.items("message", "content"):
            match block.text("type"):
                case "text" if synthetic:
                    pass  # the program speaks, not the model; the result says it again
                case "text" if block.text("text").strip():
                    yield Event(EventKind.MESSAGE, block.text("text"))
                case "tool_use":
                    yield self._calls.begun(block.text("id"), block.text("name"), block.item("input"))
                case _:
                    pass

    def _result(self, block: Json) -> Sequence[Event]:
        call, failed, text = block.text("tool_use_id"), block.says("is_error"), result_text(block)
        if failed and (call in self._denied or _OBJECTED.match(text)):
            return self._calls.denied(call, text)
        coded = _EXIT_CODE.search(text) if failed else None
        exit_code = int(coded.group(1)) if coded else (None if failed else 0)
        return self._calls.ended(call, not failed, text, exit_code)

    def _end(self, found: Json) -> Iterator[Event]:
        """Read the end of a turn."""
        self._usage += _spent(found)
        self._turn.clear()
        yield Event(EventKind.USAGE, usage=replace(self._usage, calls=len(self._answers)))
        # If it does not tell which messages it took, it is let go, and ends with what it heard until now.
        is_silent = self._prompt in self._waiting
        self.is_over = is_silent or not self._waiting
        yield from self._verdict_line(found)

    def _verdict_line(self, found: Json) -> Iterator[Event]:
        if found.text("subtype") == "success" and not found.says("is_error"):
            if self.is_over:
                yield Event(EventKind.END, found.text("result"))
            return
        text = _why(found)
        known = _SUBTYPES.get(found.text("subtype")) or of_status(found.number("api_error_status"), text)
        yield Event(EventKind.END, text, ok=False, error=known or _class_of(text))

    def verdict(self, exited: Exit) -> SessionVerdict:
        return self._tally.verdict(exited)


def _why(found: Json) -> str:
    if found.text("terminal_reason").startswith("aborted"):
        return "it was interrupted"
    errors = found.at("errors")
    listed = [error for error in errors if isinstance(error, str)] if isinstance(errors, list) else []
    return found.text("result") or "; ".join(listed)


def _class_of(text: str) -> ErrorClass | None:
    return ErrorClass.MODEL if _NO_ANSWER in text else of_text(text)


def _spent(found: Json) -> Usage:
    """Return the usage of one turn. Its input tokens are those that did not come from a cache."""
    used = found.item("usage")
    cached = used.number("cache_read_input_tokens")
    fresh = used.number("input_tokens") + used.number("cache_creation_input_tokens")
    return Usage(fresh + cached, used.number("output_tokens"), cached).priced(_cost(found), REPORTED)


def _cost(found: Json) -> float | None:
    """Return the cost of this turn, if the prices of all its models are known."""
    models = found.item("model_usage_since_last_result")
    each = [models.item(name) for name in models.fields]
    if not each or any(one.text("costBasis") in ("", "unknown") for one in each):
        return None
    return sum(one.amount("costUSD") or 0.0 for one in each)
