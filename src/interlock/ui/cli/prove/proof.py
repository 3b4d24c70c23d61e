"""What a proof is, and what comes of one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.events.record import Recorded
from interlock.ui.cli.prove.stage import Stage


class Outcome(StrEnum):
    """How a proof ended."""

    FIRED = "fired"
    FAILED = "failed"
    """It was started and did not do what it is there for."""
    UNBUILT = "not built"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was observed, and the facts that say so."""

    text: str
    rows: tuple[Recorded, ...] = ()


class NotSeen(Exception):
    """A mechanism did not do what it is there for."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One mechanism, and how to make it fire in a repository made for the purpose."""

    name: str
    ids: str
    """What it serves, by the ids of the mission."""
    act: Callable[[Stage], Awaitable[Seen]]


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the report."""

    name: str
    ids: str
    outcome: Outcome
    text: str
    facts: list[str] = field(default_factory=list)
    """The facts that show it, as `position kind: what`."""
    seconds: float = 0.0
    repository: str = ""
    """Where it happened, if it can still be looked at."""


def need(condition: object, what: str) -> None:
    """Raise `NotSeen` unless it is so."""
    if not condition:
        raise NotSeen(what)
