"""The Protocol of an executor: carry out one attempt, on any machine."""

from typing import Protocol

from interlock.model.outcome import AttemptCallbacks, Order, Report
from interlock.model.session import SessionNotes
from interlock.model.task import AttemptKey
from interlock.model.usage import Usage


class Executor(Protocol):
    """Carries out attempts. `local` is this machine; others may come."""

    async def carry_out(self, order: Order, news: AttemptCallbacks) -> Report:
        """Workspace, agent, import, in that order.

        `news.opened` is awaited before the agent starts, `news.exited` once when its process tree has ended.
        Cancelling ends the whole tree; what it wrote is still archived by `recover`. When the controller's
        lease is over the agent is not started (`StaleEpoch`): another engine may be in charge by now.
        """
        ...

    def last_line(self, key: AttemptKey) -> str:
        """Return the agent's present action as one short line that is safe to show; '' if it does not run."""
        ...

    def say(self, key: AttemptKey, text: str) -> bool:
        """A person's message to the agent; False if it does not run, or takes none while it runs."""
        ...

    def answer(self, key: AttemptKey, call: str, allow: bool) -> bool:
        """Pass on a person's answer to a request for permission; False if that request is not open."""
        ...

    def widen(self, key: AttemptKey, paths: tuple[str, ...], granted: bool, why: str) -> bool:
        """The answer to a request for scope; False if it cannot reach the agent."""
        ...

    def notes(self, key: AttemptKey) -> SessionNotes | None:
        """Return the notes on a session that is over; None if none had begun."""
        ...

    def spent(self, key: AttemptKey) -> Usage | None:
        """Return what an attempt has used so far, from its transcript; None: it says nothing."""
        ...

    async def recover(self, key: AttemptKey, why: str = "lost") -> str:
        """End a lost attempt for ever and archive what it left; return the ref, or ''.

        `why` its session ended is for its notes.

        What cannot be archived because the agent damaged it is kept as evidence. A full disk is raised.
        """
        ...
