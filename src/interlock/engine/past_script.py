"""A past run as a script for rehearsals: every attempt goes as it went."""

from collections.abc import Sequence
from dataclasses import replace

from interlock.engine.rehearsal import Fate, Script
from interlock.events import facts as f
from interlock.events.finished import all_tasks
from interlock.events.fold import fold
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.learn.estimate import Estimator
from interlock.learn.past import PastRun
from interlock.model.task import Agent, TaskId


def as_it_stood(log: Sequence[Recorded], run: PastRun) -> State:
    """The state that the run began with, its own forecasts and limits included."""
    end = next(
        (row.seq for row in log[run.first - 1 : run.last] if isinstance(row.fact, f.PhaseStarted)),
        run.last + 1,
    )
    return fold(log[: end - 1])


def as_recorded(run: PastRun) -> Script:
    """Repeat the recorded attempts; one beyond the record goes like the last, and lands."""

    first: dict[TaskId, int] = {}

    def fate(task: TaskState, attempt: int) -> Fate:
        name = task.spec.id
        tries = run.tries.get(name)
        if not tries:
            return Fate(task.expected_seconds)
        number = attempt - first.setdefault(name, attempt)  # earlier runs may have tried it too
        one = tries[min(number, len(tries) - 1)]
        return Fate(one.seconds, one.landed or number >= len(tries), one.check_seconds, one.cost_usd or 0.0)

    return fate


def with_agent(state: State, agent: Agent) -> State:
    """Give the same work to another agent. `state` is changed: its forecasts are of this agent now."""
    estimator = Estimator(state)
    for task in state.tasks.values():
        spec = replace(task.spec, agent=agent, agents=(agent,))
        task.spec, task.forecast = spec, estimator.forecast(spec)
    return state


def agents_of(state: State) -> dict[str, Agent]:
    """Every agent that a task of the log names."""
    return {agent.name: agent for task in all_tasks(state) for agent in task.spec.candidates}
