"""Interlock's own agent, for any OpenAI-compatible server and for Ollama: no program to install.

What it prints is already in our form (`run/builtin_agent` says how), so there is little to understand here.
"""

import json
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

from interlock.agents.adapter import Launch, LaunchContext, SessionVerdict, Wire
from interlock.agents.json_lines import Json, read_object
from interlock.agents.tally import SessionTally
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind, Usage

AGENT = __file__.rpartition("/agents/")[0] + "/run/builtin_agent"
SAVED = ".interlock"
"""The folder below its home where it keeps its conversations."""

_KINDS = {kind.value: kind for kind in EventKind}
_ERRORS = {error.value: error for error in ErrorClass}


class BuiltIn:
    """`use: built-in`."""

    use = "built-in"
    wire: Wire | None = Wire.OLLAMA
    """Ollama's servers speak both languages."""
    program = ""
    can_resume = True
    can_steer = True

    def launch(self, context: LaunchContext) -> Launch:
        saved = f"{context.home}/{SAVED}"
        words = {
            "--prompt": context.prompt_file,
            "--url": _served_at(context),
            "--model": context.agent.model,
            "--session": context.session,
            "--save": f"{saved}/{context.session}.json",
            **({"--resume": f"{saved}/{context.resume}.json"} if context.resume else {}),
            **_hooks(context),
        }
        python = (sys.executable, "-I", "-S", "-E", "-B", AGENT)
        told = (word for pair in words.items() for word in pair)
        return Launch(
            (*python, *told, *context.agent.args),
            {"INTERLOCK_MODEL_TOKEN": context.token},
            read=(AGENT,),
        )

    def reader(self, context: LaunchContext) -> "BuiltInDialogue":
        return BuiltInDialogue(context.session)


class BuiltInDialogue:
    """One event a line; anything else is noise, such as a Python traceback."""

    def __init__(self, session: str) -> None:
        self.is_over = False
        self._tally = SessionTally(session)
        self._usage = Usage()
        self._out: list[str] = []

    def replies(self) -> Sequence[str]:
        out, self._out = self._out, []
        return out

    def say(self, text: str) -> None:
        self._out.append(json.dumps({"say": text}) + "\n")

    def answer(self, call: str, allow: bool) -> Sequence[Event]:
        """Return no event: this program never asks."""
        del call, allow
        return []

    def read(self, line: str) -> Sequence[Event]:
        said = read_object(line)
        kind = _KINDS.get(said.text("event")) if said else None
        if said is None or kind is None:
            return []
        usage = self._count(said) if kind is EventKind.USAGE else None
        return self._tally.note([_event(kind, said, usage)])

    def verdict(self, exited: Exit) -> SessionVerdict:
        return self._tally.verdict(exited)

    def _count(self, said: Json) -> Usage:
        self._usage += Usage(said.number("input"), said.number("output"), said.number("cached"), calls=1)
        return self._usage


def _event(kind: EventKind, said: Json, usage: Usage | None) -> Event:
    return Event(
        kind,
        text=said.text("text"),
        session=said.text("session"),
        model=said.text("model"),
        call=said.text("call"),
        tool=said.text("tool"),
        path=said.text("path"),
        ok=said.at("ok") is not False,
        exit_code=said.code("exit_code"),
        error=_ERRORS.get(said.text("error")),
        usage=usage,
    )


def _hooks(context: LaunchContext) -> dict[str, str]:
    """It asks at the forwarded port itself, without a relay: the port is the last word of each."""
    if not context.hooks:
        return {}
    port = next(iter(context.hooks.values()))[-1]
    moments = ",".join(context.hooks)
    return {"--hooks-port": port, "--hooks": moments, "--hooked-tools": context.hooked_tools}


def _served_at(context: LaunchContext) -> str:
    """Through the proxy, in the language that the server's own address stands for."""
    if not context.model_url:
        return context.agent.url
    return context.model_url + ("/v1" if urlsplit(context.agent.url).path.rstrip("/").endswith("/v1") else "")
