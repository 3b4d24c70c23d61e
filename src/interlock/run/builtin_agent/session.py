"""The loop: ask the model, do what it says, send it the result, until it says that it is done."""

import argparse
import json
import os
import select
from dataclasses import dataclass
from pathlib import Path

from .dialects import Call, Message, Reply, restored
from .events import ModelFailure, tell
from .hooks import HookClient
from .model_client import Server
from .tools import FENCED, TOOLS, use, written_calls

RULES = """You are a coding agent at work in a git repository: the current folder. Look before you change
anything, make the change, then run the checks that the project has. Do not commit. Decide
yourself where you can; where only a person can decide, end with one line that begins with ::interlock ask and
has your question. When all is done, say in one sentence what you did, without calling a tool."""

CHARS_PER_TOKEN = 3
LEAST_CHARS = 8_000
LEFT_OUT = "(left out to save room)"


@dataclass(frozen=True)
class SessionLimits:
    """The limits of a session."""

    turns: int
    command_seconds: float


class BuiltInSession:
    """One conversation about one task."""

    def __init__(
        self, server: Server, limits: SessionLimits, tools: str, save: Path | None, hooks: HookClient
    ) -> None:
        self._server = server
        self._limits = limits
        self._limit_chars = server.context_tokens * CHARS_PER_TOKEN
        self._fenced = tools == "fenced"
        self._calls_tools = tools == "native"
        self._save_to = save
        self._hooks = hooks
        self._mail = Mailbox()
        self._messages: list[Message] = []

    def restore(self, saved: Path) -> None:
        """Go on where an earlier session was cut off."""
        held = json.loads(saved.read_text(encoding="utf-8"))
        self._fenced = held["fenced"]
        self._messages = [restored(message) for message in held["messages"]]

    def run(self, prompt: str) -> str:
        """Turn by turn until the model is done; its last words."""
        self._messages.append(Message("user", prompt))
        for _ in range(self._limits.turns):
            reply = self._ask()
            self._messages.append(Message("assistant", reply.text, reply.calls))
            calls = reply.calls or self._written(reply.text)
            for call in calls:
                self._carry_out(call, "tool" if reply.calls else "user")
            said = self._mail.take()
            if not calls and not said:
                if not (objection := self._hooks.stop(reply.text)):
                    return reply.text
                said = [f"You cannot end yet: {objection}"]
            self._messages += [Message("user", text) for text in said]
            self._save()
        raise ModelFailure("turn-limit", f"not done after {self._limits.turns} turns")

    def _ask(self) -> Reply:
        """Ask, and find out on the way what this model and its server can take."""
        while True:
            rules = Message("system", RULES + (FENCED if self._fenced else ""))
            fit(self._messages, self._limit_chars)
            try:
                reply = self._server.ask([rules, *self._messages], () if self._fenced else TOOLS)
            except ModelFailure as failure:
                if failure.error == "no-tools" and not self._fenced:
                    self._fenced = True
                elif failure.error == "context-too-long" and self._limit_chars > LEAST_CHARS:
                    self._limit_chars //= 2
                else:
                    raise
                tell("retry", error="bad-request", text=str(failure))
                continue
            tell("usage", **reply.usage)
            if reply.text:
                tell("message", text=reply.text)
            return reply

    def _written(self, text: str) -> list[Call]:
        """A model that has never called a tool and writes blocks does not know how to call one."""
        called_before = self._calls_tools or any(message.calls for message in self._messages)
        calls = written_calls(text, blocks=not called_before)
        self._fenced = self._fenced or (bool(calls) and not called_before)
        return calls

    def _carry_out(self, call: Call, role: str) -> None:
        subject = call.arguments.get("command") or call.arguments.get("path") or ""
        tell("tool", call=call.id, tool=call.name, text=str(subject))
        if objection := self._hooks.objection(call):
            tell("denied", call=call.id, tool=call.name, text=objection)
            ok, text = False, f"not allowed: {objection}"
        else:
            ok, text = use(call, self._limits.command_seconds)
        tell("result", call=call.id, ok=ok, text=text)
        told = text if role == "tool" else f"Result of {call.name}:\n{text}"
        self._messages.append(Message(role, told, call=call.id, tool=call.name))

    def _save(self) -> None:
        if self._save_to is None:
            return
        held = {"fenced": self._fenced, "messages": [message.saved() for message in self._messages]}
        new = self._save_to.with_suffix(".new")
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(held), encoding="utf-8")
        new.replace(self._save_to)


class Mailbox:
    """Messages of a person meanwhile, if standard input is open at all."""

    def __init__(self) -> None:
        self._open, self._rest = True, b""

    def take(self) -> list[str]:
        while self._open and select.select([0], [], [], 0)[0]:
            chunk = os.read(0, 65536)
            self._open = bool(chunk)
            self._rest += chunk
        *lines, self._rest = self._rest.split(b"\n")
        return [text for line in lines if (text := _said(line))]


def _said(line: bytes) -> str:
    try:
        return str(json.loads(line)["say"])
    except (ValueError, KeyError, TypeError):
        return ""


def fit(messages: list[Message], limit_chars: int) -> None:
    """Keep the context within its limit: old results go first, then whole turns; the task itself stays."""
    excess = sum(map(_size, messages)) - limit_chars
    for message in messages[:-2]:
        if excess > 0 and message.tool:
            excess -= max(0, len(message.text) - len(LEFT_OUT))
            message.text = LEFT_OUT
    while excess > 0:
        turns = [place for place, message in enumerate(messages) if message.role == "assistant"]
        if len(turns) < 2:
            return
        excess -= sum(map(_size, messages[turns[0] : turns[1]]))
        del messages[turns[0] : turns[1]]


def _size(message: Message) -> int:
    return len(message.text) + sum(len(str(call.arguments)) for call in message.calls)


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="built-in", allow_abbrev=False)
    for name in ("prompt", "url", "model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--session", default="")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--tools", choices=["auto", "native", "fenced"], default="auto")
    parser.add_argument("--hooks-port", type=int, default=0)
    parser.add_argument("--hooks", default="", metavar="MOMENT,...")
    parser.add_argument("--hooked-tools", default="", metavar="PATTERN")
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--command-seconds", type=float, default=300.0)
    parser.add_argument("--answer-seconds", type=float, default=540.0)
    parser.add_argument("--retries", type=int, default=4)
    parser.add_argument("--retry-seconds", type=float, default=1.0)
    parser.add_argument("--context", type=int, default=32_768, metavar="TOKENS")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    given = _parse(words)
    server = Server(
        given.url, given.model, given.context, given.answer_seconds, given.retries, given.retry_seconds
    )
    hooks = HookClient(given.hooks_port, given.hooks, given.hooked_tools)
    session = BuiltInSession(
        server, SessionLimits(given.turns, given.command_seconds), given.tools, given.save, hooks
    )
    tell("session", session=given.session, model=given.model)
    try:
        if given.resume and given.resume.exists():
            session.restore(given.resume)
        tell("end", ok=True, text=session.run(Path(given.prompt).read_text(encoding="utf-8")))
    except ModelFailure as failure:
        error = "bad-request" if failure.error == "no-tools" else failure.error
        tell("end", ok=False, error=error, text=str(failure))
        return 1
    return 0
