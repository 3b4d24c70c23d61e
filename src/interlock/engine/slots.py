"""The slots there are, those in use, and how the pool does: as figures for people, programs and the log."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.events import facts as f
from interlock.events.state import State
from interlock.model.pool import PoolFigures
from interlock.model.task import ROLES
from interlock.schedule import Board

if TYPE_CHECKING:  # `status` asks for slots, and has no time to load what measures them
    from interlock.learn.meter import Meter

MEASURE_SECONDS = 60.0
"""The least time between two records of a run's figures. Its metrics port has them at any time."""


@dataclass(frozen=True, slots=True)
class RoleSlots:
    """The slots of one role."""

    limit: int
    in_use: int
    free: int


@dataclass(frozen=True, slots=True)
class Slots:
    """Numbers of agents that may work, that do, and that could still start."""

    limit: int
    in_use: int
    free: int
    queue: int
    """Tasks that are free to start and have not."""
    roles: dict[str, RoleSlots] = field(default_factory=dict)


def slots_of(state: State, board: Board, is_live: bool) -> Slots:
    """Return the slots of the run in State; if that run is not alive, none is free."""
    limit = state.run.limit if state.run and is_live else 0
    free = free_slots(state) if is_live else 0
    at_work = [state.tasks[name].spec.role for name in state.index.running if state.tasks[name].has_agent]
    at_work += [state.tasks[name].spec.role for name in state.index.leftovers]
    own = state.run.slots if state.run else {}
    roles = {}
    for role in ROLES:
        most, used = min(limit, own.get(role, limit)), at_work.count(role)
        roles[role] = RoleSlots(most, used, max(0, min(free, most - used)))
    return Slots(limit, len(at_work), free, board.queue_length, roles)


def free_slots(state: State) -> int:
    """Count the agents that may still start."""
    return max(0, (state.run.limit if state.run else 0) - agents_at_work(state))


def agents_at_work(state: State) -> int:
    """Count the agents at work. One whose task a person took away may still be among them."""
    return sum(state.tasks[task].has_agent for task in state.index.running) + len(state.index.leftovers)


class Gauges:
    """Measures the pool of one run, and chooses when to record it."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._written_at: float | None = None
        self._written = PoolFigures()

    def due(self, state: State, board: Board, meter: "Meter", now: float) -> list[f.Fact]:
        """The figures, if it is time to write them down and anything happened since."""
        if self._written_at is None:
            self._written_at = now
        if now - self._written_at < MEASURE_SECONDS:
            return []
        figures = figures_of(state, board, meter)
        if figures.attempts == self._written.attempts and figures.landed == self._written.landed:
            return []
        self._written_at, self._written = now, figures
        return [f.PoolMeasured(self._run, figures)]

    def last(self, state: State, board: Board, meter: "Meter") -> list[f.Fact]:
        """The figures at the end of the run, if it did anything."""
        figures = figures_of(state, board, meter)
        return [f.PoolMeasured(self._run, figures)] if figures.attempts else []


def figures_of(state: State, board: Board, meter: "Meter") -> PoolFigures:
    """Return the figures of a run's pool, as of the last fact."""
    return meter.figures(state.run.limit if state.run else 0, board.queue_length)
