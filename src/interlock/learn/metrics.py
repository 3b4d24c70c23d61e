"""The figures of the last run in a log: how long, how busy, how much was done twice (P3)."""

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.events.fold import apply
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.meter import Meter


@dataclass(frozen=True, slots=True)
class Metrics:
    """One run in numbers."""

    makespan_seconds: float
    agent_seconds: float
    """Time agents worked, added up."""
    lane_seconds: float
    """Time the train was checking or landing."""
    utilization: float
    """Share of the agent slots' time that was used."""
    overlap: float
    """Agents, checks and landings under way at once, on the average. One worker would not take so many times
    as long: checks run beside agents with one, too, and everything is slower while the machine is shared."""
    waiting_p50_seconds: float
    """Wait of attempts, from being free to start to the start."""
    waiting_p99_seconds: float
    landed: int
    attempts: int
    retries: int
    conflicts: int
    red_checks: int
    rebuilt: int
    lost: int


def measure(rows: Iterable[Recorded], state: State | None = None) -> Metrics:
    """The figures of the last run in these rows. They go on from `state`, which is carried along with them;
    without one they are the whole log. What the fold ignores (late, or written twice) is not counted."""
    state, meter = state or State(), Meter()
    for row in rows:
        meter = meter.after(row, state, apply(state, row))
    return metrics_of(meter)


def metrics_of(meter: Meter) -> Metrics:
    agent_seconds, span = meter.agent_seconds(), max(1e-9, meter.ended - meter.started)
    return Metrics(
        makespan_seconds=meter.ended - meter.started,
        agent_seconds=agent_seconds,
        lane_seconds=meter.lane_seconds,
        utilization=meter.utilization(),
        overlap=(agent_seconds + meter.lane_seconds) / span,
        waiting_p50_seconds=meter.waiting(0.5),
        waiting_p99_seconds=meter.waiting(0.99),
        **{
            name: meter.counts[name]
            for name in ("landed", "attempts", "retries", "conflicts", "red_checks", "rebuilt", "lost")
        },
    )
