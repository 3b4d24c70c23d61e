"""Chooses the number of agents of a run: the user's, or as many as the clutch and the machine allow."""

from dataclasses import dataclass
from typing import Literal

from interlock.engine.host import Reading, safe_most
from interlock.events.state import State
from interlock.events.tallies import Tallies

AUTO: Literal["auto"] = "auto"
DEFAULT = "default"
"""Origin of a setting that the user has not set."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """The number of agents of a run."""

    most: int
    auto: bool
    why: str
    cold_start: int = 1
    """Agents for a kind of work without any history here, where the clutch decides."""


def parallel(said: int | Literal["auto"], origin: str, known: State, reading: Reading) -> Parallel:
    """Choose the number. The user's number holds. Without one the default holds for each kind of work
    until it has history here; the history of other projects never lowers it."""
    most = safe_most(reading)
    if said == AUTO:
        return Parallel(most, True, f"max_parallel is auto ({origin}): {_clutch(most)}")
    if origin != DEFAULT:
        return Parallel(said, False, f"max_parallel is {said} ({origin})")
    if _has_history(known.tallies):
        why = f"max_parallel is not set, and earlier runs have landed changes: auto, {_clutch(most)}"
        return Parallel(max(most, said), True, why, said)
    return Parallel(said, False, f"max_parallel is {said} (default, until a run has landed a change)")


def _clutch(most: int) -> str:
    return f"the clutch decides for each kind of work, and the machine has room for {most}"


def _has_history(tallies: Tallies) -> bool:
    return any(number.landed > 0 for numbers in tallies.goodput.values() for number in numbers.values())
