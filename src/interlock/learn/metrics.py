"""The figures of the last run in a log: how long, how busy, how much was done twice (P3)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.model.outcome import ErrorClass
from interlock.model.task import PhaseKind, TaskId


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
    speedup: float
    """All phases one after the other, over the time it took."""
    waiting_p50_seconds: float
    """From being free to start to its start, over attempts."""
    waiting_p99_seconds: float
    landed: int
    attempts: int
    retries: int
    conflicts: int
    red_checks: int
    rebuilt: int
    lost: int


@dataclass(frozen=True, slots=True)
class _Begun:
    """A phase under way."""

    time: float
    is_agent: bool
    waited: float
    """From being free to start, or from the start of the run."""


@dataclass(slots=True)
class _Tally:
    started: float = 0.0
    ended: float = 0.0
    limit: int = 1
    agent_seconds: float = 0.0
    lane_seconds: float = 0.0
    waits: list[float] = field(default_factory=list)
    open: dict[TaskId, _Begun] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def measure(rows: Iterable[Recorded], state: State | None = None) -> Metrics:
    """The figures of the last run in these rows. They go on from `state`, which is carried along with them;
    without one they are the whole log. What the fold ignores (late, or written twice) is not counted."""
    state, tally = state or State(), _Tally()
    for row in rows:
        fact = row.fact
        if isinstance(fact, f.RunStarted):
            tally = _Tally(started=row.time, limit=max(1, fact.max_parallel))
        tally.ended = row.time
        begins = _beginning(tally, state, fact, row.time) if isinstance(fact, f.PhaseStarted) else None
        changed = apply(state, row)
        if isinstance(fact, f.PhaseFact) and fact.task in changed:
            _count(tally, fact)
            if begins:
                _begin(tally, fact, begins)
        for task in changed & tally.open.keys():
            _end_if_over(tally, state.tasks[task], row.time)
    return _figures(tally)


def _beginning(tally: _Tally, state: State, fact: f.PhaseStarted, time: float) -> _Begun | None:
    """What only the state before the start knows."""
    if (task := state.tasks.get(fact.task)) is None:
        return None
    waited = time - max(tally.started, task.ready_since, task.not_before)
    return _Begun(time, task.phase.kind is PhaseKind.AGENT, waited)


def _begin(tally: _Tally, fact: f.PhaseFact, begun: _Begun) -> None:
    tally.open[fact.task] = begun
    if begun.is_agent:
        tally.add("attempts")
        tally.waits.append(begun.waited)
        if fact.attempt > 1:
            tally.add("retries")


def _end_if_over(tally: _Tally, task: TaskState, time: float) -> None:
    begun = tally.open[task.spec.id]
    if task.stage is Stage.RUNNING and not (begun.is_agent and task.agent_exited):
        return
    del tally.open[task.spec.id]
    if begun.is_agent:
        tally.agent_seconds += time - begun.time
    else:
        tally.lane_seconds += time - begun.time


def _count(tally: _Tally, fact: f.PhaseFact) -> None:
    for name, matches in _COUNTED.items():
        if matches(fact):
            tally.add(name)


_COUNTED: dict[str, Callable[[f.PhaseFact], bool]] = {
    "landed": lambda fact: isinstance(fact, f.Landed),
    "conflicts": lambda fact: isinstance(fact, f.PhaseFailed) and fact.error is ErrorClass.CONFLICT,
    "red_checks": lambda fact: isinstance(fact, f.PhaseFailed) and fact.error is ErrorClass.CHECK,
    "rebuilt": lambda fact: isinstance(fact, f.CandidateStale),
    "lost": lambda fact: isinstance(fact, f.PhaseLost),
}


def _figures(tally: _Tally) -> Metrics:
    span = max(1e-9, tally.ended - tally.started)
    waits = sorted(tally.waits) or [0.0]
    return Metrics(
        makespan_seconds=tally.ended - tally.started,
        agent_seconds=tally.agent_seconds,
        lane_seconds=tally.lane_seconds,
        utilization=tally.agent_seconds / (span * tally.limit),
        speedup=(tally.agent_seconds + tally.lane_seconds) / span,
        waiting_p50_seconds=waits[len(waits) // 2],
        waiting_p99_seconds=waits[min(len(waits) - 1, len(waits) * 99 // 100)],
        **{
            name: tally.counts.get(name, 0)
            for name in ("landed", "attempts", "retries", "conflicts", "red_checks", "rebuilt", "lost")
        },
    )
