"""Distributions of the result of an attempt, to draw from."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from interlock.events.state import TaskState
from interlock.events.tallies import Sums, Tallies
from interlock.learn.evidence import P90_SIGMAS, USUAL_SIGMA
from interlock.model.numbers import bounded, exponential, logarithm

FAITH = 4.0
"""Attempts that what is known beforehand is worth."""
LEAST_SUCCESS = 0.05


@dataclass(frozen=True, slots=True)
class Amount:
    """A lognormal amount. Part of what is not known of it is the same for all tasks of a kind: if the first
    takes twice as long as expected because the kind was unknown, so will the second."""

    median: float
    sigma: float = 0.0
    common: float = 0.0
    """The share of the variance that all tasks of the kind have together."""

    def at(self, own: float, together: float) -> float:
        """The amount for two draws from a standard normal distribution."""
        noise = math.sqrt(1 - self.common) * own + math.sqrt(self.common) * together
        return bounded(self.median * exponential(self.sigma * noise))


@dataclass(frozen=True, slots=True)
class Prospect:
    """Possible time, cost and result of an attempt at a task."""

    kind: str
    """Tasks with the same one have their luck in common."""
    seconds: Amount
    success: float
    check_seconds: Amount
    cost_usd: Amount | None
    evidence: float

    def success_at(self, together: float) -> float:
        """The chance that an attempt lands, for a draw from a standard normal distribution: how often it
        does is known no better than the attempts behind it allow."""
        error = math.sqrt(self.success * (1 - self.success) / (self.evidence + FAITH))
        return min(1.0, max(LEAST_SUCCESS, self.success + error * together))


def prospect(task: TaskState, tallies: Tallies) -> Prospect:
    """Build it from the forecast in the log where there is one, else from the task's own estimate."""
    forecast = task.forecast
    own = [tally.check_seconds for tally in tallies.kinds.values() if tally.category == task.category]
    # Most checks are the repository's own: those of other kinds say more than nothing.
    checks = _check_spread(own if any(each.count for each in own) else _all_checks(tallies))
    if forecast is None:
        seconds = Amount(task.spec.estimate_seconds, USUAL_SIGMA, 1.0)
        return Prospect(task.category, seconds, 1.0, checks, None, 0.0)
    common = 1.0 / (1.0 + forecast.evidence)
    cost = None
    if forecast.cost_usd:
        cost = _spread(forecast.cost_usd, forecast.cost_usd_p90 or forecast.cost_usd, common)
    return Prospect(
        f"{forecast.category}/{forecast.agent}",
        _spread(forecast.seconds, forecast.seconds_p90, common),
        forecast.success,
        checks,
        cost,
        forecast.evidence,
    )


def _spread(median: float, p90: float, common: float) -> Amount:
    return (
        Amount(median, max(0.0, (logarithm(p90) - logarithm(median)) / P90_SIGMAS), common)
        if median > 0
        else Amount(0.0)
    )


def _all_checks(tallies: Tallies) -> list[Sums]:
    return [tally.check_seconds for tally in tallies.kinds.values()]


def _check_spread(sums: Iterable[Sums]) -> Amount:
    """Checks are the repository's own and vary little: their mean says enough."""
    found = [each for each in sums if each.count]
    count = sum(each.count for each in found)
    return Amount(exponential(sum(each.y for each in found) / count)) if count else Amount(0.0)
