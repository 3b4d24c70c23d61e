"""The agent that a task would get now, and the reason; with all that could have it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from interlock.events.state import State, TaskState
from interlock.model.durations import lasting
from interlock.model.forecast import Forecast
from interlock.model.task import Agent
from interlock.schedule import closed_until, pick_agent
from interlock.ui.plain import counted
from interlock.ui.queries.tasks import forecast_of
from interlock.ui.words.reasons import reason_text

ONLY = "the only agent that could have it"


@dataclass(frozen=True, slots=True)
class RouteOption:
    """An agent that could have the task, in the order of the graph."""

    agent: str
    use: str
    model: str
    chosen: bool
    closed_seconds: float
    """Time until its model takes calls again; 0: it does now."""
    failures: int
    """Attempts of it that failed at this task."""
    seconds: float | None
    """Expected time of an attempt; null: nothing is expected of it yet."""
    success: float | None
    """Probability that an attempt lands."""
    cost_usd: float | None
    usd_to_land: float | None
    """Expected money until a change of it has landed."""


@dataclass(frozen=True, slots=True)
class RouteDocument:
    """The agent of a task's next attempt."""

    task: str
    route: str | None
    """The route of the graph that names its agents; null: the task or `defaults` does."""
    agent: str
    why: str
    over: bool
    """True: the task is done or was given up, and only `interlock retry` would start it again."""
    options: tuple[RouteOption, ...]


def route_document(state: State, task: TaskState, now: float) -> RouteDocument:
    forecast = forecast_of(state, task)
    pick = pick_agent(state, replace(task, forecast=forecast), now)
    options = tuple(_option(state, task, agent, forecast, pick.agent, now) for agent in task.spec.candidates)
    why = reason_text(pick.why) if pick.why else ONLY
    return RouteDocument(task.spec.id, task.spec.route or None, pick.agent, why, task.is_over, options)


def _option(
    state: State, task: TaskState, agent: Agent, forecast: Forecast, chosen: str, now: float
) -> RouteOption:
    found = next((option for option in forecast.options if option.agent == agent.name), None)
    priced = found is not None and found.cost_usd is not None
    return RouteOption(
        agent=agent.name,
        use=agent.use,
        model=agent.model,
        chosen=agent.name == chosen,
        closed_seconds=max(0.0, closed_until(state, task, agent) - now),
        failures=sum(failure.agent == agent.name for failure in task.trouble.failures),
        seconds=found.seconds if found else None,
        success=found.success if found else None,
        cost_usd=found.cost_usd if found else None,
        usd_to_land=found.to_land(in_money=True) if found and priced else None,
    )


def route_lines(found: RouteDocument) -> Iterator[str]:
    """Yield the same for people."""
    whose = f"by {found.route}" if found.route else "by the task itself, or `defaults`"
    yield f"{found.task} would go to {found.agent}: {found.why}"
    yield f"  agents named {whose}"
    for option in found.options:
        yield f"  {'>' if option.chosen else ' '} {option.agent}: {', '.join(_facts(option))}"
    if found.over:
        yield f"  it is over; `interlock retry {found.task}` would start it again"


def _facts(option: RouteOption) -> Iterator[str]:
    if option.model:
        yield option.model
    if option.seconds is None or option.success is None:
        yield "nothing is known of it yet"
    else:
        yield f"lands {round(10 * option.success)} of 10 times in {lasting(option.seconds)}"
    if option.usd_to_land is not None:
        yield f"${option.usd_to_land:.2f} for each landed change"
    if option.failures:
        yield f"failed here in {counted(option.failures, 'attempt')}"
    if option.closed_seconds > 0:
        yield f"closed for another {lasting(option.closed_seconds)}"
