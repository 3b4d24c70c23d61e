"""Forecasts of a task: its kind, and time, money and success for every agent that could have it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from interlock.events.state import State
from interlock.events.tallies import Tally
from interlock.learn.categories import Category, category, complexity
from interlock.learn.evidence import Kind, Spread, nearest, spread, spread_of_ratio, success
from interlock.model.forecast import Chance, Forecast, Option
from interlock.model.task import Agent, Task

LEAST_SECONDS = 0.01
"""A task that is estimated at nothing still has a logarithm."""
A_LITTLE = 0.1
"""Forecasts that differ by less than a tenth are the same forecast: no fact, no new order."""


@dataclass(frozen=True, slots=True)
class _Figures:
    """Time, money and success of one kind, for one attempt."""

    seconds: Spread | None
    """Of tasks without an estimate; None if nothing has run. A default estimate is no evidence."""
    ratio: Spread
    """Time divided by the estimate, of tasks for which one was written."""
    cost: Spread | None
    usd_each: float
    success: float

    def time(self, task: Task) -> tuple[float, float]:
        """Return the median and the p90, at most the timeout: the agent is stopped then."""
        if self.seconds and not task.has_estimate:
            found = self.seconds.median, self.seconds.p90
        else:
            estimate = max(LEAST_SECONDS, task.estimate_seconds)
            found = estimate * self.ratio.median, estimate * self.ratio.p90
        return min(found[0], task.timeout_seconds), min(found[1], task.timeout_seconds)

    def usd(self, value: Callable[[Spread], float]) -> float | None:
        return self.usd_each * value(self.cost) if self.cost else None


class Estimator:
    """Forecasts from one moment's tallies. Kinds are worked out once, however many tasks are of them."""

    def __init__(self, state: State) -> None:
        self._tallies = list(state.learned.tallies.kinds.values())
        self._known: dict[Kind, _Figures] = {}

    def forecast(self, task: Task, footprint: tuple[Chance, ...] = ()) -> Forecast:
        """Forecast one attempt at the task, by the agent that is expected to land it for the least."""
        found = category(task)
        options = [self._option(found, agent, task) for agent in task.candidates]
        in_money = all(option.cost_usd is not None for option in options)
        options.sort(key=lambda option: option.to_land(in_money))
        best = options[0]
        kind = _kind(found, task.agent_named(best.agent))
        known = self._figures(kind)
        return Forecast(
            category=found.name,
            category_why=found.why,
            agent=best.agent,
            seconds=best.seconds,
            seconds_p90=known.time(task)[1],
            success=best.success,
            cost_usd=best.cost_usd,
            cost_usd_p90=known.usd(lambda cost: cost.p90),
            evidence=sum(tally.attempts for tally in self._tallies if kind.is_of(tally)),
            footprint=footprint,
            complexity=complexity(task),
            is_guess=known.seconds is None and not task.has_estimate,
            options=tuple(options),
        )

    def _option(self, found: Category, agent: Agent, task: Task) -> Option:
        known = self._figures(_kind(found, agent))
        return Option(agent.name, known.time(task)[0], known.success, known.usd(lambda cost: cost.median))

    def _figures(self, kind: Kind) -> _Figures:
        if kind not in self._known:
            tallies = self._tallies
            self._known[kind] = _Figures(
                spread(nearest(tallies, kind, lambda tally: tally.seconds)),
                spread_of_ratio(nearest(tallies, kind, lambda tally: tally.estimated)),
                *self._cost(kind),
                success(tallies, kind),
            )
        return self._known[kind]

    def _cost(self, kind: Kind) -> tuple[Spread | None, float]:
        """Go by the agent's past costs; else by the tokens it takes, where its model's price is known.

        The costs of other agents say nothing: their models have other prices.
        """
        mine = [tally for tally in self._tallies if tally.agent == kind.agent]
        if cost := spread(nearest(mine, kind, lambda tally: tally.cost_usd)):
            return cost, 1.0
        each = _usd_per_token(self._tallies, kind.model)
        return (spread(nearest(mine, kind, lambda tally: tally.tokens)), each) if each else (None, 0.0)


def _usd_per_token(tallies: Sequence[Tally], model: str) -> float:
    known = [tally for tally in tallies if model and tally.model == model]
    tokens = sum(tally.paid_tokens for tally in known)
    return sum(tally.paid_usd for tally in known) / tokens if tokens else 0.0


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
