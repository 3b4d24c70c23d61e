"""Tokens by task, agent and attempt."""

from collections import deque
from dataclasses import dataclass, field

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.task import TaskId
from interlock.model.usage import Usage

MOST_ATTEMPTS = 500
"""The newest that are listed one by one."""


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
class CostDocument:
    """What agents have used, and what limits them."""

    usage: Usage
    """Of all attempts of all tasks."""
    tasks: list[TaskUsage]
    agents: list[AgentUsage]
    attempts: list[AttemptUsage]
    clutch: dict[str, object]
    """As `interlock clutch --json` has it."""
    time: float


@dataclass(slots=True)
class Spending:
    """Usage as it is read from a log, each attempt counted once, as the fold does."""

    counted: dict[TaskId, int] = field(default_factory=dict)
    agents_of: dict[TaskId, str] = field(default_factory=dict)
    by_agent: dict[str, AgentUsage] = field(default_factory=dict)
    by_task: dict[TaskId, TaskUsage] = field(default_factory=dict)
    newest: deque[AttemptUsage] = field(default_factory=lambda: deque(maxlen=MOST_ATTEMPTS))

    def add(self, row: Recorded) -> None:
        if row.kind == f.PhaseStarted.__name__ and isinstance(fact := row.fact, f.PhaseStarted):
            self.agents_of[fact.task] = fact.agent or self.agents_of.get(fact.task, "")
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
        of_agent = self.by_agent.get(agent, AgentUsage(agent, 0, Usage()))
        self.by_agent[agent] = AgentUsage(agent, of_agent.attempts + 1, of_agent.usage + usage)
        of_task = self.by_task.get(fact.task, TaskUsage(fact.task, 0, Usage()))
        self.by_task[fact.task] = TaskUsage(fact.task, of_task.attempts + 1, of_task.usage + usage)


def cost_document(state: State, spending: Spending, clutch: dict[str, object], now: float) -> CostDocument:
    def tokens(row: TaskUsage | AgentUsage) -> int:
        return -(row.usage.input_tokens + row.usage.output_tokens)

    return CostDocument(
        usage=state.used,
        tasks=sorted(spending.by_task.values(), key=tokens),
        agents=sorted(spending.by_agent.values(), key=tokens),
        attempts=list(reversed(spending.newest)),
        clutch=clutch,
        time=now,
    )
