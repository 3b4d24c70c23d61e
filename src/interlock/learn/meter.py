"""A run in figures, kept up fact by fact: a fact costs what it changes (P3, A21).

Only what the fold takes in is counted: what comes late, or stands in the log twice, changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.model.outcome import ErrorClass
from interlock.model.pool import PoolFigures
from interlock.model.task import PhaseKind, TaskId


@dataclass(frozen=True, slots=True)
class _Begun:
    """A phase under way."""

    time: float
    is_agent: bool


class Meter:
    """The figures of one run."""

    def __init__(self, started: float = 0.0) -> None:
        self.counts: Counter[str] = Counter()
        self.started = started
        self.ended = started
        self.lane_seconds = 0.0
        self.waits: list[float] = []
        """Waits of attempts, from being free to start, or from the start of the run, to the start."""
        self._agent_seconds = 0.0
        self._slot_seconds = 0.0
        self._idle_seconds = 0.0
        self._limit = 1
        self._open: dict[TaskId, _Begun] = {}
        self._agents: dict[TaskId, str] = {}
        """Agent of a task's last attempt; '' if that was lost."""
        self._not_before: dict[TaskId, float] = {}
        self._could_start: dict[TaskId, float] = {}
        """Tasks that were told to start and have not yet, with the time since which they could have."""
        self._undecided: float | None = None
        """Since when there are facts that no decision has seen."""

    def after(self, row: Recorded, state: State, changed: Collection[TaskId]) -> "Meter":
        """Take in a fact after the fold, and which tasks that changed. A run gets a new meter."""
        meter = Meter(row.time) if isinstance(row.fact, f.RunStarted) else self
        meter._see(row, state, changed)
        return meter

    def decided(self, starts: Iterable[TaskId], now: float) -> None:
        """Note the tasks that are told to start now. They became ready after the last decision."""
        since = now if self._undecided is None else self._undecided
        self._could_start = {name: self._could_start.get(name, since) for name in starts}
        self._undecided = None

    def agent_seconds(self) -> float:
        at_work = sum(self.ended - begun.time for begun in self._open.values() if begun.is_agent)
        return self._agent_seconds + at_work

    def utilization(self) -> float:
        return self.agent_seconds() / max(1e-9, self._slot_seconds)

    def waiting(self, share: float) -> float:
        waits = sorted(self.waits) or [0.0]
        return waits[min(len(waits) - 1, int(len(waits) * share))]

    def figures(self, slots: int, queue: int) -> PoolFigures:
        """All of it, with what only State knows of now."""
        counts, attempts = self.counts, self.counts["attempts"]
        pending = sum(max(0.0, self.ended - since) for since in self._could_start.values())
        return PoolFigures(
            slots=slots,
            busy=sum(begun.is_agent for begun in self._open.values()),
            queue=queue,
            waiting_p50_seconds=self.waiting(0.5),
            waiting_p99_seconds=self.waiting(0.99),
            utilization=self.utilization(),
            idle_share=(self._idle_seconds + pending) / max(1e-9, self._slot_seconds),
            attempts=attempts,
            retry_rate=counts["retries"] / attempts if attempts else 0.0,
            conflicts=counts["conflicts"],
            reassignments=counts["reassignments"],
            by_hand=counts["by_hand"],
            landed=counts["landed"],
        )

    def _see(self, row: Recorded, state: State, changed: Collection[TaskId]) -> None:
        fact = row.fact
        self._pass_time(row.time, state)
        if self._undecided is None:
            self._undecided = row.time
        if isinstance(fact, f.PhaseFact) and fact.task in changed:
            self._count(fact)
            if isinstance(fact, f.PhaseStarted):
                self._begin(fact, state.tasks[fact.task], row.time)
        elif isinstance(fact, f.TaskRetried | f.TaskReset) and fact.task in changed:
            self.counts["by_hand"] += 1
        for name in changed:
            if name in state.tasks:
                self._note(state.tasks[name], row.time)

    def _pass_time(self, time: float, state: State) -> None:
        """Add the slot time up to now, at the number of slots before this fact."""
        self._slot_seconds += self._limit * max(0.0, time - self.ended)
        self.ended = time
        self._limit = max(1, state.run.limit if state.run else 1)

    def _count(self, fact: f.PhaseFact) -> None:
        self.counts.update(name for name, matches in _COUNTED.items() if matches(fact))

    def _begin(self, fact: f.PhaseStarted, task: TaskState, time: float) -> None:
        is_agent = task.phase.kind is PhaseKind.AGENT
        self._open[fact.task] = _Begun(time, is_agent)
        free_since = max(self.started, task.queue.ready_since, self._not_before.pop(fact.task, 0.0))
        idle_since = self._could_start.pop(fact.task, time)
        if not is_agent:
            return
        self._idle_seconds += max(0.0, time - idle_since)
        self.waits.append(time - free_since)
        self.counts["attempts"] += 1
        self.counts["retries"] += fact.attempt > 1
        before, name = self._agents.get(fact.task), task.who.name
        self.counts["reassignments"] += before is not None and before != name
        self._agents[fact.task] = name

    def _note(self, task: TaskState, time: float) -> None:
        name = task.spec.id
        if task.stage is Stage.WAITING and task.queue.not_before:
            self._not_before[name] = task.queue.not_before
        begun = self._open.get(name)
        if begun is None or (task.stage is Stage.RUNNING and not (begun.is_agent and task.session.exited)):
            return
        del self._open[name]
        if begun.is_agent:
            self._agent_seconds += time - begun.time
            if task.trouble.losses:
                self._agents[name] = ""
        else:
            self.lane_seconds += time - begun.time


_COUNTED: dict[str, Callable[[f.PhaseFact], bool]] = {
    "landed": lambda fact: isinstance(fact, f.Landed),
    "conflicts": lambda fact: isinstance(fact, f.PhaseFailed) and fact.error is ErrorClass.CONFLICT,
    "red_checks": lambda fact: isinstance(fact, f.PhaseFailed) and fact.error is ErrorClass.CHECK,
    "rebuilt": lambda fact: isinstance(fact, f.CandidateStale),
    "lost": lambda fact: isinstance(fact, f.PhaseLost),
}
