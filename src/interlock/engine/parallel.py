"""How many agents a run may have: a person's number, or as many as the clutch and the machine allow."""

from dataclasses import dataclass
from typing import Literal

from interlock.engine.host import Reading, safe_most
from interlock.events.state import State
from interlock.events.tallies import Tallies

AUTO: Literal["auto"] = "auto"
DEFAULT = "default"
"""Where a setting comes from that nobody has set."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """What holds for a run."""

    most: int
    auto: bool
    why: str
    cold_start: int = 1
    """Agents for a kind of work without any history here, where the clutch decides."""


def parallel(said: int | Literal["auto"], origin: str, known: State, reading: Reading) -> Parallel:
    """A number that a person gave is theirs. Where nobody gave one, the default holds for each kind of work
    until it has history here; what other projects have learned takes nothing away from that."""
    most = safe_most(reading)
    if said == AUTO:
        return Parallel(most, True, f"max_parallel is auto ({origin}): {_clutch(most)}")
    if origin != DEFAULT:
        return Parallel(said, False, f"max_parallel is {said} ({origin})")
    if _has_history(known.tallies):
        why = f"max_parallel is not set, and there is history: auto, {_clutch(most)}"
        return Parallel(max(most, said), True, why, said)
    return Parallel(said, False, f"max_parallel is {said} (default, until there is history)")


def _clutch(most: int) -> str:
    return f"the clutch decides for each kind of work, and the machine has room for {most}"


def _has_history(tallies: Tallies) -> bool:
    return any(number.landed > 0 for numbers in tallies.goodput.values() for number in numbers.values())
