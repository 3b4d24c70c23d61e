"""Forecasts of a task: its kind, and time, money and success for every agent that could have it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from interlock.events.state import State
from interlock.learn.categories import Category, category, complexity
from interlock.learn.costs import Price, price
from interlock.learn.difficulty import success
from interlock.learn.durations import Durations, agent_seconds
from interlock.learn.evidence import PastAttempts, Kind
from interlock.model.forecast import Chance, Forecast, Option
from interlock.model.task import Agent, Task

LEAST_SECONDS = 0.01
"""A task that is estimated at nothing still has a logarithm."""
A_LITTLE = 0.1
"""Forecasts that differ by less than a tenth are the same forecast: no fact, no new order."""


_Look = tuple[Durations, Price | None, float]
"""Seconds, money and success of one kind."""


class Estimator:
    """Forecasts from one moment's tallies. Kinds are worked out once, however many tasks are of them."""

    def __init__(self, state: State) -> None:
        self._evidence = PastAttempts(state.tallies.kinds)
        self._looks: dict[Kind, _Look] = {}

    def forecast(self, task: Task, footprint: tuple[Chance, ...] = ()) -> Forecast:
        """Forecast one attempt at the task, by the agent that is expected to land it for the least."""
        found = category(task)
        options = [self._option(found, agent, task) for agent in task.candidates]
        options.sort(key=_to_land(options))
        best = options[0]
        kind = _kind(found, task.agent_named(best.agent))
        times, paid, _ = self._look(kind)
        return Forecast(
            category=found.name,
            category_why=found.why,
            agent=best.agent,
            seconds=best.seconds,
            seconds_p90=_seconds(task, times, 0.9),
            success=best.success,
            cost_usd=best.cost_usd,
            cost_usd_p90=paid.quantile(0.9) if paid else None,
            evidence=self._evidence.own(kind).attempts,
            footprint=footprint,
            complexity=complexity(task),
            is_guess=times.quantile(0.5, _estimate(task)) is None,
            options=tuple(options),
        )

    def _option(self, found: Category, agent: Agent, task: Task) -> Option:
        times, paid, probability = self._look(_kind(found, agent))
        return Option(
            agent.name, _seconds(task, times, 0.5), probability, paid.quantile(0.5) if paid else None
        )

    def _look(self, kind: Kind) -> _Look:
        if kind not in self._looks:
            evidence = self._evidence
            probability = success(evidence, kind).probability
            self._looks[kind] = (agent_seconds(evidence, kind), price(evidence, kind), probability)
        return self._looks[kind]


def differs(new: Forecast, old: Forecast | None) -> bool:
    """Return True if a figure moved far enough to change a decision."""
    if old is None or new == old:
        return old is None
    plain = replace(new, **{name: getattr(old, name) for name in _FIGURES}, options=old.options)
    if plain != old or [each.agent for each in new.options] != [each.agent for each in old.options]:
        return True
    pairs = [(getattr(new, name), getattr(old, name)) for name in _FIGURES if name != "evidence"]
    for now, before in zip(new.options, old.options, strict=True):
        pairs += [
            (now.seconds, before.seconds),
            (now.success, before.success),
            (now.cost_usd, before.cost_usd),
        ]
    return any(_is_apart(one, other) for one, other in pairs)


def _is_apart(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is not other
    return abs(one - other) > A_LITTLE * max(abs(one), abs(other))


_FIGURES = ("seconds", "seconds_p90", "success", "cost_usd", "cost_usd_p90", "evidence")


def _kind(found: Category, agent: Agent) -> Kind:
    return Kind(found.name, agent.name, agent.model)


def _estimate(task: Task) -> float | None:
    return max(LEAST_SECONDS, task.estimate_seconds) if task.has_estimate else None


def _seconds(task: Task, times: Durations, probability: float) -> float:
    """Return the time, at most the timeout: its agent is stopped then."""
    known = times.quantile(probability, _estimate(task))
    if known is None:
        known = times.by_estimate.quantile(probability, task.estimate_seconds)
    return min(known, task.timeout_seconds)


def _to_land(options: Sequence[Option]) -> Callable[[Option], float]:
    """Return the cost of an option until it lands: in dollars if all of them have a price, else in time."""
    if all(option.cost_usd is not None for option in options):
        return lambda option: (option.cost_usd or 0.0) / option.success
    return lambda option: option.seconds / option.success
