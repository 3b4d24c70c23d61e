"""Qwen Code, checked with 0.24 on Node 22 or newer.

1. Versions before 0.24 call a failed request a success, with status 0: what the model "said" is then the
   error, and no token was used. A success without a single token is none.
2. By itself it waits out a rate limit for many minutes; it is told to give up early, and the engine waits.
3. It goes on with a session only in the folder where that began, and every attempt has its own: no resume.
   (It would also count the tokens of the earlier part again.)
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, compact, read_object
from interlock.agents.tally import SessionTally
from interlock.agents.tool_calls import ToolCalls, Tools, result_text
from interlock.model.error_words import of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage

MODEL = "qwen3-coder-plus"
RETRIES = 0
RETRY_MS = 1000
TOOLS = Tools(
    {"write_file": "file_path", "edit": "file_path", "notebook_edit": "notebook_path"},
    {"run_shell_command": "command"},
)

_EXITS = {53: ErrorClass.TURNS, 55: ErrorClass.BUDGET}
_RETRY = re.compile(r"^Retrying (in|provider)")
_EXIT_CODE = re.compile(r"^Exit Code: (\d{1,9})$", re.MULTILINE)
_API_ERROR = "[API Error:"


class Qwen:
    """`use: qwen`."""

    use = "qwen"
    wire: Wire | None = Wire.OPENAI
    program = "qwen"
    can_resume = False
    can_steer = False

    def launch(self, context: LaunchContext) -> Launch:
        agent, model = context.agent, context.agent.model or MODEL
        argv = (
            self.program,
            *("--output-format", "stream-json", "--approval-mode", "yolo", "--session-id", context.session),
            *("--auth-type", "qwen-oauth" if agent.login else "openai", "--model", model, *agent.args),
            # One word with the prompt: alone, a prompt that begins with a dash would be an option.
            f"--prompt={context.prompt}",
        )
        env = {"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1", "NO_COLOR": "1"}
        if not agent.login:
            env |= {
                "OPENAI_API_KEY": context.token,
                "OPENAI_BASE_URL": f"{context.model_url}/v1",
                "OPENAI_MODEL": model,
            }
        return Launch(
            argv,
            env,
            {".qwen/settings.json": compact(_SETTINGS)},
            account=(".qwen/oauth_creds.json",) if agent.login else (),
            hosts=("chat.qwen.ai:443", "portal.qwen.ai:443") if agent.login else (),
        )

    def reader(self, context: LaunchContext) -> "QwenReader":
        return QwenReader(context.session)


_SETTINGS = {
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "model": {
        "generationConfig": {
            "maxRetries": RETRIES,
            "retryInitialDelayMs": RETRY_MS,
            "retryMaxDelayMs": 10 * RETRY_MS,
        }
    },
}


class QwenReader:
    """Reads `--output-format stream-json`."""

    def __init__(self, session: str) -> None:
        self._tally = SessionTally(session)
        self._calls = ToolCalls(TOOLS)
        self._answers: dict[str, Usage] = {}

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        return self._tally.note(self._noise(line) if found is None else list(self._understood(found)))

    def _noise(self, line: str) -> Sequence[Event]:
        if _RETRY.match(line):
            return [Event(EventKind.RETRY, line, error=of_text(line))]
        if line.startswith("Reached max session turns"):
            return [Event(EventKind.END, line, ok=False, error=ErrorClass.TURNS)]
        return []

    def _understood(self, found: Json) -> Iterator[Event]:
        match found.text("type"):
            case "system" if found.text("subtype") == "init":
                session, model = found.text("session_id"), found.text("model")
                yield Event(EventKind.SESSION, session=session, model=model)
            case "assistant":
                self._answers[found.text("message", "id")] = _usage(found.item("message", "usage"), 1)
                so_far = sum(self._answers.values(), Usage())
                for block in found.items("message", "content"):
                    yield from (replace(event, usage=so_far) for event in self._block(block))
            case "user":
                for block in found.items("message", "content"):
                    if block.text("type") == "tool_result":
                        yield from self._result(block)
            case "result":
                yield from self._end(found)
            case _:
                pass

    def _block(self, block: Json) -> Iterator[Event]:
        match block.text("type"):
            case "text" if block.text("text").startswith(_API_ERROR):
                text = block.text("text")
                yield Event(EventKind.ERROR, text, error=of_text(text) or ErrorClass.MODEL)
            case "text" if block.text("text").strip():
                yield Event(EventKind.MESSAGE, block.text("text"))
            case "tool_use":
                yield self._calls.begun(block.text("id"), block.text("name"), block.item("input"))
            case _:
                pass

    def _result(self, block: Json) -> Sequence[Event]:
        failed, text = block.says("is_error"), result_text(block)
        coded = _EXIT_CODE.search(text)
        exit_code = int(coded.group(1)) if coded else (None if failed else 0)
        return self._calls.ended(block.text("tool_use_id"), not failed, text, exit_code)

    def _end(self, found: Json) -> Iterator[Event]:
        for denial in found.items("permission_denials"):
            given = compact(denial.item("tool_input").fields)
            call = denial.text("tool_use_id")
            yield Event(EventKind.DENIED, given, call=call, tool=denial.text("tool_name"), ok=False)
        usage = _usage(found.item("usage"), found.number("num_turns"))
        yield Event(EventKind.USAGE, usage=usage)
        yield self._verdict_line(found, usage)

    def _verdict_line(self, found: Json, usage: Usage) -> Event:
        text = found.text("error", "message") or found.text("result")
        if found.says("is_error") or found.text("subtype") != "success":
            turns = found.text("subtype") == "error_max_turns"
            error = ErrorClass.TURNS if turns else of_text(text)
            return Event(EventKind.END, text, ok=False, error=error)
        if text.startswith(_API_ERROR) or not usage.output_tokens:
            why = text or "it says that all went well, but its model said nothing"
            return Event(EventKind.END, why, ok=False, error=of_text(text) or ErrorClass.MODEL)
        return Event(EventKind.END, text)

    def verdict(self, exited: Exit) -> SessionVerdict:
        verdict = self._tally.verdict(exited)
        if verdict.error is ErrorClass.EXIT and (known := _EXITS.get(exited.code)):
            return replace(verdict, error=known)
        return verdict


def _usage(found: Json, calls: int) -> Usage:
    """Its input tokens are all of them, those from the cache too."""
    cached = found.number("cache_read_input_tokens")
    return Usage(found.number("input_tokens"), found.number("output_tokens"), cached, calls)
