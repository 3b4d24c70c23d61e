"""One session with an agent that speaks the Agent Client Protocol, from the greeting to the last answer.

A turn can end well by the protocol and still be an error of the model, told as text. What the model proxy saw
is stronger; without it, a session that used no tool and speaks like an error is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from acp.meta import AGENT_METHODS, CLIENT_METHODS
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    PromptRequest,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    TextContentBlock,
)
from pydantic import ValidationError

from interlock.agents.acp import rpc
from interlock.agents.acp.opening import GREETING_ID, Opening
from interlock.agents.acp.rpc import Connection
from interlock.agents.acp.updates import UpdateReader
from interlock.agents.adapter import LaunchContext, SessionVerdict
from interlock.agents.json_lines import Json, compact
from interlock.agents.tally import SessionTally
from interlock.model.error_words import of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind

_STOPPED = {
    "max_tokens": ErrorClass.CONTEXT,
    "max_turn_requests": ErrorClass.TURNS,
    "refusal": ErrorClass.MODEL,
    "cancelled": ErrorClass.EXIT,
}


# Requests for leave, from the question to the answer.


OPEN_MOST = 100
"""Questions of one session that wait for a person: each is a fact in the log, and no person reads more."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A request for leave, with the answers that the agent offers."""

    id: object
    options: tuple[PermissionOption, ...]


class PermissionRequests:
    """Permission requests that wait for a person."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._open: dict[str, list[PermissionRequest]] = {}

    @property
    def is_full(self) -> bool:
        return sum(map(len, self._open.values())) >= OPEN_MOST

    def keep(self, call: str, question: PermissionRequest) -> None:
        self._open.setdefault(call, []).append(question)

    def answer(self, call: str, allow: bool) -> bool:
        """Answer what was asked about a call; False if nothing was."""
        questions = self._open.pop(call, [])
        for question in questions:
            self.decide(question, allow)
        return bool(questions)

    def decide(self, question: PermissionRequest, allow: bool) -> None:
        kind = "allow" if allow else "reject"
        self._line.respond(question.id, _chosen([o for o in question.options if o.kind.startswith(kind)]))


def _chosen(options: Sequence[PermissionOption]) -> RequestPermissionResponse:
    """One of these, for this once if there is a choice: what was said today is not meant for ever."""
    if not options:
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
    best = next((option for option in options if option.kind.endswith("once")), options[0])
    return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=best.option_id))


class AcpDialogue:
    """A `Dialogue`."""

    def __init__(self, context: LaunchContext) -> None:
        self.is_over = False
        self._context = context
        self._line = rpc.Connection(GREETING_ID)
        self._opening = Opening(context, self._line, self._opened, self._failed)
        self._questions = PermissionRequests(self._line)
        self._telling = UpdateReader(context.workspace)
        self._tally = SessionTally(context.session)
        self._session = ""
        self._said: list[str] = []

    def read(self, line: str) -> Sequence[Event]:
        message = rpc.read(line)
        if message is None or self.is_over:
            return []
        return self._tally.note(self._called(message) if message.method else self._answered(message))

    def replies(self) -> Sequence[str]:
        out, self._line.out = self._line.out, []
        return out

    def say(self, text: str) -> None:
        self._said.append(text)

    def answer(self, call: str, allow: bool) -> Sequence[Event]:
        if not self._questions.answer(call, allow):
            return []
        return self._tally.note([self._telling.decided(call, allow)])

    def verdict(self, exited: Exit) -> SessionVerdict:
        # Once all is said, how the program leaves (its input ends, or it is ended) means nothing.
        verdict = self._tally.verdict(replace(exited, code=0) if self.is_over else exited)
        # Some count a turn, some its last step, some nothing. Where the proxy counts, it counts alone.
        return replace(verdict, usage=None) if self._context.model_url else verdict

    def _opened(self, session: str) -> list[Event]:
        self._session = session
        self._prompt(self._context.prompt)
        return [Event(EventKind.SESSION, session=session, model=self._context.agent.model)]

    def _prompt(self, text: str) -> None:
        words = TextContentBlock(type="text", text=text)
        asked = PromptRequest(session_id=self._session, prompt=[words])
        self._line.ask(AGENT_METHODS["session_prompt"], asked, self._turn_ended, self._failed)

    def _turn_ended(self, result: object) -> list[Event]:
        ended = PromptResponse.model_validate(result)
        events = [*self._telling.message(), *self._telling.turn_usage(ended.usage)]
        if error := _STOPPED.get(ended.stop_reason):
            text = f"the agent stopped: {ended.stop_reason.replace('_', ' ')}"
            return [*events, *self._over(text, error)]
        if self._said:
            said, self._said = self._said, []
            self._prompt("\n\n".join(said))
            return events
        words = next((event.text for event in events if event.kind is EventKind.MESSAGE), "")
        return [*events, *self._over(words, None if self._telling.used_tools else of_text(words))]

    def _called(self, message: rpc.Incoming) -> list[Event]:
        """Handle a call of the agent. A notification of the vendor's own is ignored, a request is refused."""
        code, text = rpc.METHOD_NOT_FOUND, f"no such method: {message.method}"
        try:
            if message.method == CLIENT_METHODS["session_update"]:
                update = SessionNotification.model_validate(message.params)
                return [] if self._opening.is_replay else self._telling.update(update)
            if message.method == CLIENT_METHODS["session_request_permission"] and message.id is not None:
                return self._permission(message.id, RequestPermissionRequest.model_validate(message.params))
        except ValidationError as problem:
            code, text = rpc.INVALID_PARAMS, _wrong(problem)
        if message.id is not None:
            self._line.refuse(message.id, code, text)
        return []

    def _permission(self, id: object, asked: RequestPermissionRequest) -> list[Event]:
        rule, call = self._context.agent.permissions, asked.tool_call.tool_call_id
        question = PermissionRequest(id, tuple(asked.options))
        waits = rule == "ask" and not self._questions.is_full
        events = self._telling.asked(asked.tool_call, is_answered=not waits)
        if waits:
            self._questions.keep(call, question)
            return events
        self._questions.decide(question, rule == "allow")
        return events if rule == "allow" else [*events, self._telling.decided(call, allow=False)]

    def _answered(self, message: rpc.Incoming) -> list[Event]:
        try:
            return self._line.hear(message)
        except ValidationError as problem:
            return self._over(f"the agent's answer is not valid: {_wrong(problem)}", ErrorClass.MODEL)

    def _failed(self, error: Json) -> list[Event]:
        text = error.text("message") or "the agent refused"
        if details := error.at("data"):
            text = f"{text}: {details if isinstance(details, str) else compact(details)}"
        is_auth = error.at("code") == rpc.AUTH_REQUIRED
        kind = ErrorClass.AUTH if is_auth else of_text(text) or ErrorClass.EXIT
        return [*self._telling.message(), *self._over(text, kind)]

    def _over(self, text: str, error: ErrorClass | None) -> list[Event]:
        self.is_over = True
        return [Event(EventKind.END, text, ok=error is None, error=error)]


def _wrong(problem: ValidationError) -> str:
    first = problem.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
