"""A proof and its result."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.events.record import Recorded
from interlock.ui.cli.prove.stage import ProofRepository


class Outcome(StrEnum):
    """The result of a proof."""

    FIRED = "fired"
    FAILED = "failed"
    """The mechanism was triggered and did not do its job."""
    UNBUILT = "not built"


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation, and the facts that show it."""

    text: str
    rows: tuple[Recorded, ...] = ()


class NotSeen(Exception):
    """A mechanism did not do what it is there for."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One mechanism, and how to make it fire in a repository made for the purpose."""

    name: str
    ids: str
    """The mission ids that it serves."""
    act: Callable[[ProofRepository], Awaitable[Seen]]


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
    """The folder it ran in, if that was kept."""


def need(condition: object, what: str) -> None:
    """Raise `NotSeen` unless it is so."""
    if not condition:
        raise NotSeen(what)
