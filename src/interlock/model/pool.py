"""The pool of slots in figures."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """What the system watches about itself (P3, A21)."""

    slots: int = 0
    """How many agents may work at once."""
    busy: int = 0
    queue: int = 0
    """Tasks that could start if there were room."""
    waiting_p50_seconds: float = 0.0
    waiting_p99_seconds: float = 0.0
    utilization: float = 0.0
    """Share of the slots' time that agents worked."""
    idle_share: float = 0.0
    """Share of the slots' time that nobody worked although a task could have run."""
    attempts: int = 0
    retry_rate: float = 0.0
    conflicts: int = 0
    reassignments: int = 0
    """Attempts that were lost and had to be given to somebody else."""
    landed: int = 0
