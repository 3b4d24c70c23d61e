"""Chooses the number of agents of a run: the user's, or as many as the clutch and the machine allow."""

from dataclasses import dataclass
from typing import Literal

from interlock.engine.host import HostReading, safe_most
from interlock.events.state import State
from interlock.events.tallies import Tallies
from interlock.model.reason import Reason, Why

AUTO: Literal["auto"] = "auto"
DEFAULT = "default"
"""Origin of a setting that the user has not set."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """The number of agents of a run."""

    most: int
    auto: bool
    why: Reason
    cold_start: int = 1
    """Agents for a kind of work without any history here, where the clutch decides."""


def parallel(said: int | Literal["auto"], origin: str, known: State, reading: HostReading) -> Parallel:
    """Choose the number. The user's number holds. Without one the default holds for each kind of work
    until it has history here."""
    most = safe_most(reading)
    auto = Reason(Why.AUTO, {"origin": origin, "room": most})
    if said == AUTO:
        return Parallel(most, True, auto)
    if origin == DEFAULT and _has_history(known.learned.tallies):
        return Parallel(max(most, said), True, auto, said)
    return Parallel(said, False, Reason(Why.MAX_PARALLEL, {"limit": said, "origin": origin}))


def _has_history(tallies: Tallies) -> bool:
    return any(number.landed > 0 for numbers in tallies.goodput.values() for number in numbers.values())
