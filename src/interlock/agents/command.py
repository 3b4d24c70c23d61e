"""Any program that takes its prompt from a file and leaves its work in the folder: aider, mini-swe-agent, a
script. Its exit status is all it says, so the checks decide the rest.

With `wire`, it finds the model proxy in the variables that programs of that language read.
"""

from collections.abc import Mapping, Sequence

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.reason import Reason, Why
from interlock.model.session import Event
from interlock.model.shown import shown

_BASE = {
    Wire.ANTHROPIC: {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_BASE": ""},
    Wire.OPENAI: {"OPENAI_BASE_URL": "/v1", "OPENAI_API_BASE": "/v1"},
    Wire.GEMINI: {"GOOGLE_GEMINI_BASE_URL": "", "GEMINI_API_BASE": ""},
    Wire.OLLAMA: {"OLLAMA_HOST": "", "OLLAMA_API_BASE": ""},
}
_KEY = {
    Wire.ANTHROPIC: "ANTHROPIC_API_KEY",
    Wire.OPENAI: "OPENAI_API_KEY",
    Wire.GEMINI: "GEMINI_API_KEY",
    Wire.OLLAMA: "OLLAMA_API_KEY",
}


def model_variables(wire: str, model_url: str, token: str) -> Mapping[str, str]:
    """Return the model's address in the variables that programs of this language read."""
    if not wire or not model_url:
        return {}
    spoken = Wire(wire)
    urls = {name: model_url + path for name, path in _BASE[spoken].items()}
    return {**urls, _KEY[spoken]: token}


class CommandAdapter:
    """`use: command`."""

    use = "command"
    wire: Wire | None = None
    program = ""
    can_resume = False
    can_steer = False

    def launch(self, context: LaunchContext) -> Launch:
        model = {"INTERLOCK_MODEL": context.agent.model} if context.agent.model else {}
        where = model_variables(context.agent.wire, context.model_url, context.token)
        return Launch(context.agent.run, {**where, **model})

    def reader(self, _context: LaunchContext) -> "PlainReader":
        return PlainReader()


class PlainReader:
    """Lines mean nothing but themselves: the log has them, and the session shows the last one."""

    def read(self, _line: str) -> Sequence[Event]:
        return ()

    def verdict(self, exited: Exit) -> SessionVerdict:
        if exited.code == 0:
            return SessionVerdict()
        if signal := exited.signal:
            return SessionVerdict(ErrorClass.EXIT, why=Reason(Why.EXITED, {"signal": signal}))
        words = next((line for line in reversed(exited.tail.splitlines()) if line.strip()), "")
        why = Reason(Why.EXITED, {"exit_code": exited.code, "text": shown(words)})
        return SessionVerdict(ErrorClass.EXIT, why=why)
