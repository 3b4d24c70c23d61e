"""Gemini CLI, checked with 0.61.

1. Its exit status is the HTTP status modulo 256, or one of its own, and 0 on a signal and on an empty answer:
   only its result line says that all went well.
2. Without `--skip-trust` it drops to a mode that has no tools to write with, and still ends well.
3. A base URL without `selectedType` is taken for another kind of login, and refused.
4. It goes on with a session only in the folder where that began, and every attempt has its own: no resume.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, compact, read_object
from interlock.agents.tally import SessionTally
from interlock.agents.tool_calls import ToolCalls, Tools
from interlock.model.error_words import of_status, of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage

MODEL = "gemini-2.5-pro"
ATTEMPTS = 3
"""The number of requests to a failing model: two hiccups are no failure. After that the engine decides."""
TOOLS = Tools({"write_file": "file_path", "replace": "file_path"}, {"run_shell_command": "command"})

_EXITS = {41: ErrorClass.AUTH, 42: ErrorClass.BAD_REQUEST, 53: ErrorClass.TURNS, 130: ErrorClass.EXIT}
_STATUSES = (400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529)
_BY_EXIT = {status % 256: of_status(status) for status in _STATUSES} | _EXITS
_FAILED = re.compile(r"Attempt \d{1,9} failed(?: with status (\d{3}))?")
_DENIALS = ("policy_violation", "permission_denied", "path_not_in_workspace")
_DENIED = re.compile(
    r"denied by policy|not in workspace|user (denied|cancelled|did not allow)", re.IGNORECASE
)


class Gemini:
    """`use: gemini`."""

    use = "gemini"
    wire: Wire | None = Wire.GEMINI
    program = "gemini"
    can_resume = False
    can_steer = False

    def launch(self, context: LaunchContext) -> Launch:
        agent = context.agent
        argv = (
            self.program,
            *("--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"),
            *("--session-id", context.session, "--model", agent.model or MODEL, *agent.args),
            # One word with the prompt: alone, a prompt that begins with a dash would be an option.
            f"--prompt={context.prompt}",
        )
        env = {"GEMINI_CLI_NO_RELAUNCH": "true"}
        if not agent.login:
            env |= {"GEMINI_API_KEY": context.token, "GOOGLE_GEMINI_BASE_URL": context.model_url}
        return Launch(
            argv,
            env,
            {".gemini/settings.json": compact(_settings(context))},
            account=(".gemini/oauth_creds.json", ".gemini/google_accounts.json") if agent.login else (),
            hosts=("cloudcode-pa.googleapis.com:443", "oauth2.googleapis.com:443") if agent.login else (),
        )

    def reader(self, context: LaunchContext) -> "GeminiReader":
        return GeminiReader(context.session)


def _settings(context: LaunchContext) -> dict[str, object]:
    kind = "oauth-personal" if context.agent.login else "gemini-api-key"
    headers = {"Authorization": f"Bearer {context.tools_token}"}
    server = {"httpUrl": context.tools_url, "headers": headers, "trust": True}
    return {
        **({"mcpServers": {"interlock": server}} if context.tools_url else {}),
        "security": {"auth": {"selectedType": kind}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": ATTEMPTS,
            "retryFetchErrors": False,
        },
    }


class GeminiReader:
    """Reads `--output-format stream-json`."""

    def __init__(self, session: str) -> None:
        self._tally = SessionTally(session)
        self._calls = ToolCalls(TOOLS)
        self._said: list[str] = []
        """Pieces of the message that is being written."""

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        if found is None:
            return self._tally.note(self._noise(line))
        if found.text("type") == "message" and found.says("delta"):
            self._said.append(found.text("content"))
            return []
        return self._tally.note([*self._spoken(), *self._understood(found)])

    def _noise(self, line: str) -> Sequence[Event]:
        retry = _FAILED.search(line)
        if not retry or "etrying" not in line[retry.end() :]:
            return []
        status = int(retry.group(1) or 0)
        error = of_status(status, line) if status else of_text(line)
        return [Event(EventKind.RETRY, line, error=error)]

    def _spoken(self) -> Sequence[Event]:
        text = "".join(self._said)
        self._said = []
        return [Event(EventKind.MESSAGE, text)] if text.strip() else []

    def _understood(self, found: Json) -> Sequence[Event]:
        match found.text("type"):
            case "init":
                session, model = found.text("session_id"), found.text("model")
                return [Event(EventKind.SESSION, session=session, model=model)]
            case "message" if found.text("role") == "assistant":
                return [Event(EventKind.MESSAGE, found.text("content"))]
            case "tool_use":
                given = found.item("parameters")
                return [self._calls.begun(found.text("tool_id"), found.text("tool_name"), given)]
            case "tool_result":
                return self._result(found)
            case "error" if found.text("severity") != "warning":
                text = found.text("message")
                return [Event(EventKind.ERROR, text, error=of_text(text))]
            case "result":
                return self._end(found)
            case _:
                return []

    def _result(self, found: Json) -> Sequence[Event]:
        call, ok = found.text("tool_id"), found.text("status") == "success"
        text = found.text("output") or found.text("error", "message")
        if not ok and (found.text("error", "type") in _DENIALS or _DENIED.search(text)):
            return self._calls.denied(call, text)
        return self._calls.ended(call, ok, text)

    def _end(self, found: Json) -> Sequence[Event]:
        stats = found.item("stats")
        usage = Usage(stats.number("input_tokens"), stats.number("output_tokens"), stats.number("cached"))
        ok, text = found.text("status") == "success", found.text("error", "message")
        error = None if ok else _class_of(found.text("error", "type"), text)
        return [
            Event(EventKind.USAGE, usage=usage),
            Event(EventKind.END, text, ok=ok, error=error),
        ]

    def verdict(self, exited: Exit) -> SessionVerdict:
        self._tally.note(self._spoken())
        verdict = self._tally.verdict(exited)
        if verdict.error is ErrorClass.EXIT and (known := _BY_EXIT.get(exited.code)):
            return replace(verdict, error=known)
        return verdict


def _class_of(kind: str, text: str) -> ErrorClass | None:
    by_kind = {"FatalTurnLimitedError": ErrorClass.TURNS, "FatalAuthenticationError": ErrorClass.AUTH}
    coded = re.search(r'"code":\s*(\d{3})', text)
    return by_kind.get(kind) or (of_status(int(coded.group(1)), text) if coded else of_text(text))
