"""One session of an agent, while it runs: its lines become events, and those become a file and a verdict.

1. What is kept is clean first and cut after, and bounded: an agent can print without end.
2. Success is an end that the program itself calls good. The exit status alone is never enough, and none of it
   more than the checks. What it was kept from counts only if it has made nothing (`outcome.with_work`).
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from interlock.agents.adapter import Reader, SessionVerdict
from interlock.model.activity import Activity
from interlock.model.errors import EnvironmentProblem
from interlock.model.process import Exit
from interlock.model.session import Event, EventKind
from interlock.model.shown import shown
from interlock.model.usage import Usage
from interlock.run.question import Closing, is_asking

EVENTS_BYTES = 64 << 20
"""Size of one session's events; some days of talk. Later events are not kept."""
TAIL_LINES = 60
TEXT_CHARS = 16_000
"""Length of one event's text: enough for a failure, and not the whole file that was read."""
TOOLS_MOST = 1_000
"""Calls whose tool is remembered, and tools that were denied: an agent makes up both."""


class SessionRecord:
    """An agent's session so far."""

    def __init__(
        self,
        reader: Reader,
        events: Path,
        clean: Callable[[str], str],
        session: str,
        root: str = "",
        price: Callable[[Usage, str], Usage] = lambda usage, _model: usage,
    ) -> None:
        self.id = session
        self._price = price
        """Puts a price on what the program says it has used of a model."""
        self._model = ""
        self.last_line = ""
        """The agent's action in words; the last line of output of a program that tells no events."""
        self._activity = Activity(root)
        self.on_event: list[Callable[[Event], None]] = []
        self._reader = reader
        self._clean = clean
        self._denials = Denials()
        self._closing = Closing()
        self._file = _Bounded(events, EVENTS_BYTES)
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    @property
    def has_begun(self) -> bool:
        """Tell if its model has said or done anything."""
        return self._closing.has_begun

    @property
    def tail(self) -> str:
        """The end of what it did and said, for people and for the next attempt; '' if its output must do."""
        return "\n".join(self._tail)

    def hear(self, line: str) -> None:
        if events := self._reader.read(line):
            self.take(events)
        elif line and not line.isspace() and not line.startswith("{"):
            self.last_line = line

    def take(self, events: Sequence[Event]) -> None:
        for raw in events:
            self._model = raw.model or self._model
            event = self._kept(raw)
            self.id = event.session or self.id
            if said := self._activity.hear(event):
                self._tail.append(said)
            self.last_line = self._activity.words or self.last_line
            self._denials.note(event)
            self._closing.note(event)
            self._file.add(event)
            for listener in self.on_event:
                listener(event)

    def ask(self, question: str) -> None:
        self._closing.ask(self._clean(question))

    def _kept(self, event: Event) -> Event:
        text, path = (self._clean(each)[:TEXT_CHARS] for each in (event.text, event.path))
        return replace(event, text=text, path=path, usage=self._priced(event.usage))

    def _priced(self, usage: Usage | None) -> Usage | None:
        return self._price(usage, self._model) if usage else usage

    def verdict(self, exited: Exit, left: Iterable[str]) -> SessionVerdict:
        """The program has ended: how did it go by its own account, and by what it was kept from."""
        for text in left:
            self.hear(text)
        verdict = self._reader.verdict(exited)
        denied = self._denials.that_mattered()
        return replace(
            verdict,
            summary=shown(self._clean(verdict.summary)),
            why=verdict.why.map_text(lambda text: shown(self._clean(text))) if verdict.why else None,
            session=verdict.session or self.id,
            denied=denied,
            usage=self._priced(verdict.usage),
            asks=self._closing.asks("" if self._tail else self._clean(exited.tail)),
        )

    def close(self) -> None:
        self._file.close()


class Denials:
    """Tools that an agent was denied, and never got to use after all."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}
        """Tools by call: results name only the call."""
        self._denied: dict[str, str] = {}

    def note(self, event: Event) -> None:
        match event.kind:
            case EventKind.TOOL:
                self._tools.pop(event.call, None)
                self._tools[event.call] = event.tool
                if len(self._tools) > TOOLS_MOST:
                    del self._tools[next(iter(self._tools))]
            case EventKind.DENIED:
                tool = event.tool or self._tools.get(event.call, "")
                if is_asking(tool):
                    return  # it is a question (`question`), and nothing that it was kept from
                if tool in self._denied or len(self._denied) < TOOLS_MOST:
                    self._denied[tool] = shown(f"use {tool or 'a tool'}: {event.text}")
            case EventKind.RESULT if event.ok:
                self._denied.pop(event.tool or self._tools.get(event.call, ""), None)
            case _:
                pass

    def that_mattered(self) -> str:
        """Return the tool use denied to the end; '' if it found another way with the same tool."""
        return next(reversed(self._denied.values()), "")


class _Bounded:
    """A file of events, one line of JSON each."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error
        self._left = limit_bytes

    def add(self, event: Event) -> None:
        line = msgspec.json.encode(_told(event)) + b"\n"
        if self._fd >= 0 and len(line) <= self._left:
            self._left -= os.write(self._fd, line)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _told(event: Event) -> dict[str, object]:
    """Return the fields of an event that are set: most are empty."""
    fields = {name: getattr(event, name) for name in Event.__slots__}
    empty = ("", None)
    return {
        name: value for name, value in fields.items() if value not in empty and (name != "ok" or not value)
    }
