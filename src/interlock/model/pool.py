"""The pool of slots in figures."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """The figures that the system watches about itself (P3, A21)."""

    slots: int = 0
    """The number of agents that may work at once."""
    busy: int = 0
    queue: int = 0
    """Tasks that are free to start and wait for a slot, or for what another task holds."""
    waiting_p50_seconds: float = 0.0
    waiting_p99_seconds: float = 0.0
    utilization: float = 0.0
    """Share of the slots' time that agents worked."""
    idle_share: float = 0.0
    """Share of the slots' time without an agent although a task could have run."""
    attempts: int = 0
    retry_rate: float = 0.0
    conflicts: int = 0
    reassignments: int = 0
    """Attempts that went to another agent than the one before, or had to be begun again as that was lost."""
    by_hand: int = 0
    """Times that a person had to retry or reset a task."""
    landed: int = 0


TARGETS: dict[str, float] = {"retry_rate": 0.05, "idle_share": 0.10, "conflicts": 0.0, "by_hand": 0.0}
"""The limits that a healthy pool stays at or below (A21)."""


def missed(figures: PoolFigures) -> tuple[str, ...]:
    return tuple(name for name, most in TARGETS.items() if getattr(figures, name) > most)
