"""Keeps what counts of a session's events, and says from that how it ended.

For readers of programs that say so in events: `read` passes every event through `note`.
"""

from collections.abc import Sequence
from dataclasses import replace

from interlock.agents.adapter import SessionVerdict
from interlock.model.error_words import of_text
from interlock.model.outcome import ErrorClass
from interlock.model.process import Exit
from interlock.model.reason import Reason, Why
from interlock.model.session import Event, EventKind, Usage


class SessionTally:
    """The part of a session so far that its verdict depends on."""

    def __init__(self, session: str = "") -> None:
        self.session = session
        self.message = ""
        self.usage: Usage | None = None
        self._end: Event | None = None
        self._error: Event | None = None
        self._retry: Event | None = None
        """Since the model last answered."""

    def note(self, events: Sequence[Event]) -> Sequence[Event]:
        """Take them in, and hand them on."""
        for event in events:
            self.usage = event.usage or self.usage
            match event.kind:
                case EventKind.SESSION:
                    self.session = event.session or self.session
                case EventKind.MESSAGE:
                    self.message = event.text or self.message
                    self._retry = None
                case EventKind.TOOL:
                    self._retry = None
                case EventKind.RETRY if event.error or not self._retry:
                    self._retry = event
                case EventKind.ERROR:
                    self._error = event
                case EventKind.END:
                    self._end = event
                case _:
                    pass
        return events

    def verdict(self, exited: Exit) -> SessionVerdict:
        """Good only if the program said that it ended well, and its exit does not say otherwise."""
        return replace(self._judged(exited), usage=self.usage, session=self.session)

    def _judged(self, exited: Exit) -> SessionVerdict:
        if self._end and self._end.ok:
            if exited.code == 0:
                return SessionVerdict(summary=self._end.text or self.message)
            return _ended(Why.EXIT_DISAGREES, exited)
        known = [event for event in (self._error, self._end, self._retry) if event]
        if not known:
            return _ended(Why.ENDED_SILENTLY, exited)
        error = next((event.error for event in known if event.error), ErrorClass.EXIT)
        text = next((event.text for event in known if event.text), "")
        return SessionVerdict(error, text) if text else _ended(Why.ENDED_BADLY, exited, error)


def _ended(code: Why, exited: Exit, error: ErrorClass = ErrorClass.EXIT) -> SessionVerdict:
    fields = {"signal": exited.signal} if exited.signal else {"exit_code": exited.code}
    return SessionVerdict(error, why=Reason(code, fields))


def early_error(line: str) -> Sequence[Event]:
    """Read a line that is no JSON: an error before the session began."""
    is_error = line.startswith("Error: ")
    return [Event(EventKind.ERROR, line.strip(), error=of_text(line))] if is_error else []
