"""What an agent can ask Interlock for with a tool call, during its own attempt.

1. All of it is about one attempt: no argument names a task, an attempt or a project.
2. A tool does what a line or the last message of the agent does too, under the same rules. A proposal waits
   for a person; nothing here starts, changes or lands anything.
3. All of it is the agent's word: cleaned of secrets, bounded in length and number.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from interlock.model.errors import UsageError
from interlock.model.outcome import Order, ProposedTask
from interlock.model.session import Event, EventKind
from interlock.model.task import TASK_ID
from interlock.run.scope import Scope

REPORT_CHARS = 2_000
GOAL_CHARS = 4_000
WORD_CHARS = 400
WORDS_MOST = 20
PROPOSALS_MOST = 20
"""Of one attempt; each is a fact in the log."""


class AttemptTools:
    """The tools of one attempt's agent."""

    def __init__(
        self,
        order: Order,
        scope: Scope,
        take: Callable[[Sequence[Event]], None],
        ask: Callable[[str], None],
        propose: Callable[[ProposedTask], Awaitable[None]],
    ) -> None:
        self._order = order
        self._scope = scope
        self._take = take
        self._ask = ask
        self._propose = propose
        self._proposed: set[str] = set()

    def task(self) -> dict[str, object]:
        """The task as its prompt gives it, and the limits of the attempt."""
        order = self._order
        return {
            "task": order.task,
            "attempt": order.attempt,
            "prompt": order.prompt,
            "expected_paths": order.expected,
            "limits": {"seconds": order.timeout_seconds, "silent_seconds": order.idle_seconds},
        }

    def report(self, text: str) -> None:
        """Note progress as if the agent had said it."""
        self._take([Event(EventKind.MESSAGE, _bounded("text", text, REPORT_CHARS))])

    def ask(self, question: str) -> None:
        """Keep a question for a person. As with a line in the last message, work after it takes it back."""
        self._ask(_bounded("question", question, REPORT_CHARS))

    async def propose(self, wanted: ProposedTask) -> None:
        if not re.fullmatch(TASK_ID, wanted.id):
            raise UsageError(f"not a name for a task: {wanted.id[:80]}", "use letters, digits and dashes")
        if wanted.id in self._proposed:
            raise UsageError(f"{wanted.id} is proposed already", "choose another id for another task")
        if len(self._proposed) >= PROPOSALS_MOST:
            raise UsageError(f"an attempt may propose {PROPOSALS_MOST} tasks", "describe the rest in words")
        _bounded("goal", wanted.goal, GOAL_CHARS)
        for words in (wanted.needs, wanted.touches, wanted.done_when):
            if len(words) > WORDS_MOST or any(not 0 < len(word) <= WORD_CHARS for word in words):
                raise UsageError(f"a list has up to {WORDS_MOST} entries of 1 to {WORD_CHARS} characters")
        self._proposed.add(wanted.id)
        await self._propose(wanted)

    async def request_scope(self, paths: Sequence[str], why: str) -> str:
        return await self._scope.request(paths, why)


ServeTools = Callable[[AttemptTools, Path, str], AbstractAsyncContextManager[None]]
"""Serves the tools on a unix socket to callers that know the token."""


def _bounded(name: str, text: str, most: int) -> str:
    if not text.strip() or len(text) > most:
        raise UsageError(f"{name} has 1 to {most} characters, this one has {len(text)}")
    return text
