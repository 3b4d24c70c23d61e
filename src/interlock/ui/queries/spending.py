"""Tokens and money by task, agent, kind of work, day and attempt."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import OTHER, State
from interlock.model.numbers import bounded
from interlock.model.task import TaskId
from interlock.model.usage import Usage

MOST_ATTEMPTS = 500
"""The newest that are listed one by one."""
MOST_TASKS = 500
"""Those with most tokens that are listed; `task_count` has the number of all."""


@dataclass(frozen=True, slots=True)
class AttemptUsage:
    """The usage of one attempt."""

    task: str
    attempt: int
    agent: str
    time: float
    """When it was counted."""
    usage: Usage


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """The usage of all attempts of an agent."""

    agent: str
    attempts: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class TaskUsage:
    """The usage of all attempts of a task."""

    task: str
    attempts: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class CategoryUsage:
    """The usage of all attempts on one kind of work."""

    category: str
    attempts: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class DayUsage:
    """The usage of all attempts that ended on one day."""

    day: str
    """`2026-11-19`, in the time zone of the machine that says so."""
    attempts: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class CostDocument:
    """What agents have used, and what limits them. The document of `interlock cost`."""

    usage: Usage
    """Of all attempts of all tasks."""
    task_count: int
    """Number of tasks with an attempt that was counted."""
    tasks: list[TaskUsage]
    agents: list[AgentUsage]
    categories: list[CategoryUsage]
    days: list[DayUsage]
    """The newest first."""
    attempts: list[AttemptUsage]
    clutch: dict[str, object]
    """As `interlock clutch --json` has it."""
    time: float


@dataclass(slots=True)
class Total:
    """The usage of some attempts."""

    attempts: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        self.attempts += 1
        self.usage = self.usage + usage

    @property
    def tokens(self) -> int:
        return self.usage.input_tokens + self.usage.output_tokens


@dataclass(slots=True)
class Spending:
    """Usage as it is read from a log, each attempt counted once, as the fold does."""

    counted: dict[TaskId, int] = field(default_factory=dict)
    agents_of: dict[TaskId, str] = field(default_factory=dict)
    categories_of: dict[TaskId, str] = field(default_factory=dict)
    by_agent: dict[str, Total] = field(default_factory=dict)
    by_task: dict[str, Total] = field(default_factory=dict)
    by_category: dict[str, Total] = field(default_factory=dict)
    by_day: dict[str, Total] = field(default_factory=dict)
    newest: deque[AttemptUsage] = field(default_factory=lambda: deque(maxlen=MOST_ATTEMPTS))

    def add(self, row: Recorded) -> None:
        if row.kind == f.PhaseStarted.__name__ and isinstance(fact := row.fact, f.PhaseStarted):
            self.agents_of[fact.task] = fact.agent or self.agents_of.get(fact.task, "")
        elif row.kind == f.TaskAccepted.__name__ and isinstance(fact := row.fact, f.TaskAccepted):
            self.categories_of[fact.task.id] = fact.task.category
        elif row.kind == f.TaskEstimated.__name__ and isinstance(fact := row.fact, f.TaskEstimated):
            self.categories_of[fact.task] = fact.forecast.category
        elif '"usage":{' in row.body and isinstance(fact := row.fact, f.PhaseFact | f.WorkspaceArchived):
            usage = getattr(fact, "usage", None)
            if isinstance(usage, Usage) and fact.attempt > self.counted.get(fact.task, 0):
                self.counted[fact.task] = fact.attempt
                self._count(fact, usage, row.time)

    @property
    def total(self) -> Usage:
        return sum((task.usage for task in self.by_task.values()), Usage())

    def _count(self, fact: f.PhaseFact | f.WorkspaceArchived, usage: Usage, time: float) -> None:
        agent = self.agents_of.get(fact.task, "")
        self.newest.append(AttemptUsage(fact.task, fact.attempt, agent, time, usage))
        for totals, name in (
            (self.by_agent, agent),
            (self.by_task, fact.task),
            (self.by_category, self.categories_of.get(fact.task) or OTHER),
            (self.by_day, day_of(time)),
        ):
            totals.setdefault(name, Total()).add(usage)


def day_of(time: float) -> str:
    """Return the day in the reader's own time zone."""
    return datetime.fromtimestamp(bounded(time), UTC).astimezone().date().isoformat()


def cost_document(state: State, spending: Spending, clutch: dict[str, object], now: float) -> CostDocument:
    days = sorted(spending.by_day.items(), reverse=True)
    return CostDocument(
        usage=state.used,
        task_count=len(spending.by_task),
        tasks=[TaskUsage(*row) for row in _most(spending.by_task)][:MOST_TASKS],
        agents=[AgentUsage(*row) for row in _most(spending.by_agent)],
        categories=[CategoryUsage(*row) for row in _most(spending.by_category)],
        days=[DayUsage(day, total.attempts, total.usage) for day, total in days],
        attempts=list(reversed(spending.newest)),
        clutch=clutch,
        time=now,
    )


def _most(totals: dict[str, Total]) -> Iterable[tuple[str, int, Usage]]:
    ordered = sorted(totals.items(), key=lambda each: (-each[1].tokens, each[0]))
    return ((name, total.attempts, total.usage) for name, total in ordered)
