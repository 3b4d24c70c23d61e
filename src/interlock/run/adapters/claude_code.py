"""Claude Code, checked with 2.1.325.

1. It has its own rules for what a model may do. They are off, since it runs in our sandbox; as root it wants
   to hear of that from a variable.
2. A model that cannot be asked is a `success` that `is_error`; ended by SIGINT it exits with 0.
3. It hears messages while it works, so its prompt is one, too; and it ends when its standard input does.
4. A session that goes on counts the money of its earlier part again, and of a model that it does not know it
   makes up the price. What is claimed is only of this run, and only where it knows the price.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage
from interlock.run.adapters.adapter import Launch, Seat, Verdict, Wire
from interlock.run.adapters.calls import Calls, Tools
from interlock.run.adapters.errors import of_status, of_text
from interlock.run.adapters.json_lines import Json, compact, read_object
from interlock.run.adapters.tally import Tally

RETRIES = 3
"""Enough for two refusals in a row; by itself it tries for minutes."""
ANSWER_MS = 600_000
"""For one answer of the model."""
HOOK_SECONDS = 600
"""The commands outside have a limit of their own, which is shorter."""
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
_EXIT_CODE = re.compile(r"^Exit code (\d+)")
_NO_ANSWER = re.compile(r"empty or malformed response")


class ClaudeCode:
    """`use: claude-code`."""

    use = "claude-code"
    wire: Wire | None = Wire.ANTHROPIC
    program = "claude"
    can_resume = True
    can_steer = True

    def launch(self, seat: Seat) -> Launch:
        agent = seat.agent
        argv = (
            *(self.program, "--print", "--verbose"),
            *("--input-format", "stream-json", "--output-format", "stream-json"),
            *("--permission-mode", "bypassPermissions"),
            *(("--resume", seat.resume) if seat.resume else ("--session-id", seat.session)),
            *(("--settings", compact(_settings(seat.hooks))) if seat.hooks else ()),
            *(("--model", agent.model) if agent.model else ()),
            *agent.args,
        )
        return Launch(
            argv,
            {**_ENV, **({} if agent.login else _model(seat))},
            account=(".claude/.credentials.json", ".claude.json") if agent.login else (),
            hosts=_HOSTS if agent.login else (),
            say=self.message(seat.prompt),
        )

    def reader(self, seat: Seat) -> "ClaudeCodeDialogue":
        return ClaudeCodeDialogue(seat.resume or seat.session)

    def message(self, text: str) -> str:
        return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


_ENV = {
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
    "API_TIMEOUT_MS": str(ANSWER_MS),
}
_HOSTS = ("api.anthropic.com:443", "claude.ai:443", "console.anthropic.com:443", "platform.claude.com:443")


def _model(seat: Seat) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": seat.model_url, "ANTHROPIC_API_KEY": seat.token}


def _settings(hooks: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """What it runs at each moment, as its settings say it."""
    return {
        "hooks": {
            moment: [{"hooks": [{"type": "command", "command": _quoted(words), "timeout": HOOK_SECONDS}]}]
            for moment, words in hooks.items()
        }
    }


def _quoted(words: Sequence[str]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


class ClaudeCodeDialogue:
    """Reads `--output-format stream-json`, and hangs up when its last turn is over."""

    def __init__(self, session: str) -> None:
        self._tally = Tally(session)
        self._calls = Calls(TOOLS)
        self._usage = Usage()
        self._out: list[str] = []
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    def replies(self) -> Sequence[str]:
        out, self._out = self._out, []
        return out

    def say(self, text: str) -> None:
        self._out.append(ClaudeCode().message(text))

    def answer(self, call: str, allow: bool) -> Sequence[Event]:  # noqa: ARG002 - it never asks
        return []

    def cancel(self) -> None:
        self._out.append(compact({"type": "control_request", "request": {"subtype": "interrupt"}}) + "\n")

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        return [] if found is None else self._tally.note(list(self._understood(found)))

    def _understood(self, found: Json) -> Iterator[Event]:
        match found.text("type"):
            case "system":
                yield from self._system(found)
            case "assistant":
                yield from self._assistant(found)
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
                yield from self._calls.denied(found.text("tool_use_id"), found.text("message"))
            case _:
                pass

    def _assistant(self, found: Json) -> Iterator[Event]:
        synthetic = found.text("message", "model") == "<synthetic>"
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
        failed, text = block.says("is_error"), _words(block)
        coded = _EXIT_CODE.search(text) if failed else None
        exit_code = int(coded.group(1)) if coded else (None if failed else 0)
        return self._calls.ended(block.text("tool_use_id"), not failed, text, exit_code)

    def _end(self, found: Json) -> Iterator[Event]:
        self._is_over = True
        self._usage += _usage(found)
        yield Event(EventKind.USAGE, usage=self._usage)
        yield _verdict_line(found)

    def verdict(self, exited: Exit) -> Verdict:
        return self._tally.verdict(exited)


def _verdict_line(found: Json) -> Event:
    subtype, text = found.text("subtype"), found.text("result")
    if subtype == "success" and not found.says("is_error"):
        return Event(EventKind.END, text)
    errors = found.at("errors")
    said = text or "; ".join(str(error) for error in errors if error) if isinstance(errors, list) else text
    known = _SUBTYPES.get(subtype) or of_status(found.number("api_error_status"), said)
    no_answer = ErrorClass.MODEL if _NO_ANSWER.search(said) else None
    return Event(EventKind.END, said, ok=False, error=known or no_answer or of_text(said))


def _words(block: Json) -> str:
    parts = "\n".join(part.text("text") for part in block.items("content"))
    return block.text("content") or parts


def _usage(found: Json) -> Usage:
    """Its input tokens are those that did not come from a cache."""
    used = found.item("usage")
    cached = used.number("cache_read_input_tokens")
    return Usage(
        used.number("input_tokens") + used.number("cache_creation_input_tokens") + cached,
        used.number("output_tokens"),
        cached,
        found.number("num_turns"),
    )
