"""Plays what a program printed to its adapter's reader."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from interlock.agents.adapter import Adapter, LaunchContext, SessionVerdict
from interlock.model.process import Ended, Exit
from interlock.model.session import Event, EventKind
from interlock.model.task import Agent

SESSION = "0b6f1f2e-6a53-4b0e-9d0c-3c1b6a1f7d11"


@dataclass(frozen=True, slots=True)
class Played:
    """What the reader made of it."""

    events: tuple[Event, ...]
    verdict: SessionVerdict

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    @property
    def kinds(self) -> str:
        """In a row, as words."""
        return " ".join(event.kind for event in self.events)


def seat_for(
    use: str, prompt: str = "Fix it.", *, resume: str = "", login: bool = False, args: tuple[str, ...] = ()
) -> LaunchContext:
    return LaunchContext(
        agent=Agent("a", use, login=login, args=args),
        prompt=prompt,
        prompt_file="/state/prompt.md",
        workspace="/w",
        home="/home/attempt",
        session=SESSION,
        resume=resume,
        model_url="" if login else "http://127.0.0.1:4321",
        token="" if login else "ticket",
    )


def play(
    adapter: Adapter,
    lines: Iterable[str | dict[str, object]],
    code: int = 0,
    ended: Ended = Ended.EXITED,
    resume: str = "",
) -> Played:
    """All lines, and then the exit."""
    reader = adapter.reader(seat_for(adapter.use, resume=resume))
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    events = tuple(event for text in texts for event in reader.read(text))
    return Played(events, reader.verdict(Exit(ended, code, seconds=1.0, tail="")))
