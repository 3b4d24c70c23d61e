"""Requests for leave, from the question to the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from acp.schema import AllowedOutcome, DeniedOutcome, PermissionOption, RequestPermissionResponse

from interlock.agents.acp.rpc import Connection

OPEN_MOST = 100
"""Questions of one session that wait for a person: each is a fact in the log, and no person reads more."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request for leave, with the answers that the agent offers."""

    id: object
    options: tuple[PermissionOption, ...]


class Questions:
    """Those that wait for a person."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._open: dict[str, list[Question]] = {}

    @property
    def is_full(self) -> bool:
        return sum(map(len, self._open.values())) >= OPEN_MOST

    def keep(self, call: str, question: Question) -> None:
        self._open.setdefault(call, []).append(question)

    def answer(self, call: str, allow: bool) -> bool:
        """Answer what was asked about a call; False if nothing was."""
        questions = self._open.pop(call, [])
        for question in questions:
            self.decide(question, allow)
        return bool(questions)

    def decide(self, question: Question, allow: bool) -> None:
        kind = "allow" if allow else "reject"
        self._line.respond(question.id, _chosen([o for o in question.options if o.kind.startswith(kind)]))


def _chosen(options: Sequence[PermissionOption]) -> RequestPermissionResponse:
    """One of these, for this once if there is a choice: what was said today is not meant for ever."""
    if not options:
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
    best = next((option for option in options if option.kind.endswith("once")), options[0])
    return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=best.option_id))
