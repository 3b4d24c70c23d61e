"""Tokens and money by task, agent, model, kind of work, day, story and attempt."""

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime

from interlock.engine.slots import agents_at_work
from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import OTHER, State
from interlock.model.numbers import bounded
from interlock.model.task import TaskId
from interlock.model.usage import Usage

MOST_ATTEMPTS = 500
"""The newest that are listed one by one."""
MOST_ROWS = 500
"""Those with most tokens that are listed; `task_count` has the number of all tasks."""
AGENT, TASK, MODEL, CATEGORY, DAY, STORY = GROUPS = ("agent", "task", "model", "category", "day", "story")
"""What the figures are added up for. A day is like `2026-11-19`, in the time zone of the machine that reads.
A model is that of the task graph, or empty: the agent program chose it."""


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
class GroupUsage:
    """The usage of all attempts of an agent, a task, a model ..., and what came of them."""

    name: str
    attempts: int
    usage: Usage
    landed: int
    """Its landed changes that were not undone."""


@dataclass(frozen=True, slots=True)
class CostDocument:
    """What agents have used, and what limits them. The document of `interlock cost`."""

    usage: Usage
    """Of all attempts of all tasks."""
    landed: int
    """Landed changes that were not undone."""
    uncounted: int
    """Attempts that ended and told no usage: no call passed the proxy, and the program said nothing."""
    task_count: int
    """Number of tasks with an attempt that was counted."""
    by: dict[str, list[GroupUsage]]
    """For each of `agent`, `task`, `model`, `category`, `day` and `story`: those with most tokens first, the
    newest day first."""
    attempts: list[AttemptUsage]
    clutch: dict[str, object]
    """As `interlock clutch --json` has it."""
    time: float


@dataclass(slots=True)
class Total:
    """The usage of some attempts, and the number of landings."""

    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    landed: int = 0

    def add(self, usage: Usage) -> None:
        self.attempts += 1
        self.usage = self.usage + usage


@dataclass(slots=True)
class _Known:
    """A task, as far as the rows tell."""

    category: str = ""
    story: str = ""
    agent: str = ""
    model: str = ""
    counted: int = 0
    """The last attempt that was counted."""
    landing: tuple[tuple[str, str], ...] = ()
    """The group and name of each total that counts its landing."""


@dataclass(slots=True)
class Spending:
    """Usage as it is read from a log, each attempt counted once, as the fold does."""

    tasks: dict[TaskId, _Known] = field(default_factory=dict)
    by: dict[str, dict[str, Total]] = field(default_factory=lambda: {group: {} for group in GROUPS})
    newest: deque[AttemptUsage] = field(default_factory=lambda: deque(maxlen=MOST_ATTEMPTS))
    started: int = 0
    """Attempts of agents."""

    def add(self, row: Recorded) -> None:
        if row.kind in _ABOUT:
            self._learn(row)
        elif '"usage":{' in row.body and isinstance(fact := row.fact, f.PhaseFact | f.WorkspaceArchived):
            usage = getattr(fact, "usage", None)
            if isinstance(usage, Usage) and fact.attempt > self._known(fact.task).counted:
                self._count(fact.task, fact.attempt, usage, row.time)

    @property
    def total(self) -> Usage:
        return sum((task.usage for task in self.by[TASK].values()), Usage())

    @property
    def landed(self) -> int:
        return sum(task.landed for task in self.by[TASK].values())

    def _known(self, task: TaskId) -> _Known:
        return self.tasks.setdefault(task, _Known())

    def _learn(self, row: Recorded) -> None:
        match row.fact:
            case f.PhaseStarted(task=task, agent=agent) if agent:
                self._known(task).agent = agent
                self.started += 1
            case f.SessionOpened(task=task, model=model):
                self._known(task).model = model
            case f.TaskAccepted(task=spec):
                known = self._known(spec.id)
                known.category, known.story = spec.category, spec.story
            case f.TaskEstimated(task=task, forecast=forecast):
                self._known(task).category = forecast.category
            case f.Landed(task=task) | f.LandingSeen(task=task):
                self._land(self._known(task), task, row.time)
            case f.LandingLost(task=task) | f.TaskUndone(task=task) | f.TaskReopened(task=task):
                self._unland(self._known(task))

    def _names(self, known: _Known, task: str, time: float) -> tuple[tuple[str, str], ...]:
        category = known.category or OTHER
        names = (known.agent, task, known.model, category, day_of(time), known.story)
        return tuple(zip(GROUPS, names, strict=True))

    def _land(self, known: _Known, task: TaskId, time: float) -> None:
        self._unland(known)
        known.landing = self._names(known, task, time)
        for group, name in known.landing:
            self.by[group].setdefault(name, Total()).landed += 1

    def _unland(self, known: _Known) -> None:
        for group, name in known.landing:
            self.by[group][name].landed -= 1
        known.landing = ()

    def _count(self, task: TaskId, attempt: int, usage: Usage, time: float) -> None:
        known = self._known(task)
        known.counted = attempt
        self.newest.append(AttemptUsage(task, attempt, known.agent, time, usage))
        for group, name in self._names(known, task, time):
            self.by[group].setdefault(name, Total()).add(usage)


_ABOUT = frozenset(
    kind.__name__
    for kind in (
        *(f.PhaseStarted, f.SessionOpened, f.TaskAccepted, f.TaskEstimated, f.Landed, f.LandingSeen),
        *(f.LandingLost, f.TaskUndone, f.TaskReopened),
    )
)


def day_of(time: float) -> str:
    """Return the day in the reader's own time zone."""
    return datetime.fromtimestamp(bounded(time), UTC).astimezone().date().isoformat()


def cost_document(state: State, spending: Spending, clutch: dict[str, object], now: float) -> CostDocument:
    counted = sum(total.attempts for total in spending.by[TASK].values())
    return CostDocument(
        usage=state.used,
        landed=spending.landed,
        uncounted=max(0, spending.started - counted - agents_at_work(state)),
        task_count=sum(bool(total.attempts) for total in spending.by[TASK].values()),
        by={group: _rows(group, totals) for group, totals in spending.by.items()},
        attempts=list(reversed(spending.newest)),
        clutch=clutch,
        time=now,
    )


def _rows(group: str, totals: dict[str, Total]) -> list[GroupUsage]:
    rows = [GroupUsage(name, one.attempts, one.usage, one.landed) for name, one in totals.items()]
    counted = [row for row in rows if row.attempts or row.landed]
    if group == DAY:
        return sorted(counted, key=lambda row: row.name, reverse=True)
    return sorted(counted, key=lambda row: (-row.usage.tokens, row.name))[:MOST_ROWS]
