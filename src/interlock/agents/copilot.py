"""GitHub Copilot CLI, checked with 1.0.102.

1. The command that npm installs only starts the real program, and leaves it behind when it is killed; so the
   real one is started (`installed`). Ended by a signal, that one exits with 0, and its result may say so too;
   only an `abort` before it tells.
2. Tokens are in no event, only in a file that it writes at its end. It renames that file into place: whatever
   the path is, a device too, becomes a plain file. So it is one in its own home. After a resume it counts the
   earlier part again, so then nothing is claimed: the proxy has counted.
3. Most of its lines are `ephemeral`: pieces of what a later line says whole.
4. It unpacks itself into the home's cache, 235 MB. In a cache that agents share, one could change what the
   next one runs; so there is none, and only the user's own copy is shown to it, read-only (`installed`).
"""

from collections.abc import Iterator, Sequence

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, read_object
from interlock.agents.tally import SessionTally
from interlock.agents.tool_calls import ToolCalls, Tools
from interlock.model.error_words import of_status, of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage

MODEL = "gpt-4.1"
USAGE_FILE = "usage.json"
TOOLS = Tools(
    {"create": "path", "edit": "path", "str_replace": "path", "str_replace_editor": "path"},
    {"bash": "command"},
)

_KINDS = {
    "authentication": ErrorClass.AUTH,
    "rate_limit": ErrorClass.RATE_LIMIT,
    "quota": ErrorClass.QUOTA,
    "context_limit": ErrorClass.CONTEXT,
}
_NO_ANSWER = ErrorClass.MODEL


class Copilot:
    """`use: copilot`."""

    use = "copilot"
    wire: Wire | None = Wire.OPENAI
    program = "copilot"
    can_resume = True
    can_steer = False

    def launch(self, context: LaunchContext) -> Launch:
        agent = context.agent
        session = f"--resume={context.resume}" if context.resume else f"--session-id={context.session}"
        argv = (
            *(self.program, "--output-format", "json", "--allow-all", "--no-ask-user", "--no-color"),
            *("--usage-output-file", f"{context.home}/{USAGE_FILE}", session, *agent.args),
            # One word with the prompt: alone, a prompt that begins with a dash would be an option.
            f"--prompt={context.prompt}",
        )
        env = {"COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": agent.model or MODEL}
        if not agent.login:
            env |= {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": f"{context.model_url}/v1",
                "COPILOT_PROVIDER_API_KEY": context.token,
            }
        return Launch(
            argv,
            env,
            leaves=(USAGE_FILE,),
            account=(".copilot/config.json",) if agent.login else (),
            hosts=("api.github.com:443", "api.githubcopilot.com:443") if agent.login else (),
        )

    def reader(self, context: LaunchContext) -> "CopilotReader":
        return CopilotReader(context)


class CopilotReader:
    """Reads `--output-format json`, and the usage file after it."""

    def __init__(self, context: LaunchContext) -> None:
        self._tally = SessionTally(context.resume or context.session)
        self._calls = ToolCalls(TOOLS)
        self._is_counted = bool(context.resume and context.model_url)
        """The model proxy counts its calls, and its own sums begin with an earlier attempt."""
        self._before = context.used_before
        self._met = False
        self._aborted = False

    def read(self, line: str) -> Sequence[Event]:
        found = read_object(line)
        if found is None:
            return []
        events = self._passing(found) if found.says("ephemeral") else self._lasting(found)
        return self._tally.note(list(events))

    def _passing(self, found: Json) -> Iterator[Event]:
        """Of what is only for the moment, that the model had to be asked again."""
        data = found.item("data")
        if found.text("type") == "model.call_failure":
            text = data.text("errorMessage")
            yield Event(EventKind.RETRY, text, error=_class_of(data, text))

    def _lasting(self, found: Json) -> Iterator[Event]:
        data = found.item("data")
        match found.text("type"):
            case "assistant.message":
                yield from self._message(data)
            case "tool.execution_start":
                call, tool = data.text("toolCallId"), data.text("toolName")
                yield self._calls.begun(call, tool, data.item("arguments"))
            case "tool.execution_complete":
                yield from self._result(data)
            case "session.error":
                text = data.text("message")
                yield Event(EventKind.ERROR, text, error=_class_of(data, text))
            case "abort":
                self._aborted = True
            case "result":
                yield from self._end(found)
            case "" if "modelMetrics" in found.fields and not self._is_counted:
                yield Event(EventKind.USAGE, usage=_usage(found).since(self._before))
            case _:
                pass

    def _message(self, data: Json) -> Iterator[Event]:
        if not self._met:
            self._met = True
            yield Event(EventKind.SESSION, session=self._tally.session, model=data.text("model"))
        if data.text("content").strip():
            yield Event(EventKind.MESSAGE, data.text("content"))

    def _result(self, data: Json) -> Sequence[Event]:
        call, error = data.text("toolCallId"), data.item("error")
        if data.says("success"):
            code = data.code("shellExecution", "exitCode")
            return self._calls.ended(call, True, data.text("result", "content"), code)
        if error.text("code") in ("denied", "rejected"):
            return self._calls.denied(call, error.text("message"))
        return self._calls.ended(call, False, error.text("message"))

    def _end(self, found: Json) -> Iterator[Event]:
        yield Event(EventKind.SESSION, session=found.text("sessionId"))
        if self._aborted or not self._met:
            yield Event(EventKind.END, "it was interrupted" if self._aborted else "", ok=False)
        else:
            ok = found.code("exitCode") == 0
            yield Event(EventKind.END, self._tally.message if ok else "", ok=ok)

    def verdict(self, exited: Exit) -> SessionVerdict:
        return self._tally.verdict(exited)


def _class_of(data: Json, text: str) -> ErrorClass:
    by_status = of_status(data.number("statusCode"), text)
    return by_status or _KINDS.get(data.text("errorType")) or of_text(text) or _NO_ANSWER


def _usage(found: Json) -> Usage:
    """Per model, over the run; input tokens are all of them."""
    models = found.item("modelMetrics")
    total = Usage()
    for name in models.fields:
        one = models.item(name)
        spent = one.item("usage")
        total += Usage(
            spent.number("inputTokens"),
            spent.number("outputTokens"),
            spent.number("cacheReadTokens"),
            one.number("requests", "count"),
        )
    return total
