"""Quantities that vary by factors rather than by amounts: times, prices, tokens. Their logarithms are normal.

Where the middle lies is a weighted mean of what the kind's own attempts, related ones and the task's own
estimate say. How far single values lie from it is known from few, so it is Student's t on the logarithms:
with three attempts behind it a p90 is wide, with thirty it is what they show.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interlock.events.tallies import Sums, Tally
from interlock.learn.evidence import Kind, PastAttempts
from interlock.learn.student import t_quantile
from interlock.model.numbers import exponential, logarithm

SPREAD = 0.7
"""Spread of logarithms within one kind, until it is known better: two thirds lie within a factor of two."""
FREEDOM = 4.0
"""Attempts that this counts for."""
MOST_FREEDOM = 10.0
"""The most attempts that the scatter of other kinds counts for."""
SLOPE_STRENGTH = 2.0
"""Evidence (in squared logarithms) that estimates are right in proportion: about four tasks off by 0.7."""

Measured = Callable[[Tally], Sums]


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of a quantity, given a task's own estimate of it."""

    middle: float
    """Middle of the logarithm, without the part that follows from the estimate."""
    weight: float
    """Attempts behind the middle."""
    slope: float
    """The share of the differences between estimates that comes true."""
    scale: float
    freedom: float

    def quantile(self, probability: float, estimate: float | None = None) -> float:
        """Return the value that it stays below with this probability. The estimate counts as one attempt."""
        middle, weight = self.middle, self.weight
        shift = 0.0
        if estimate is not None:
            x = logarithm(estimate)
            shift = self.slope * x
            weight += 1
            middle += (x - shift - middle) / weight
        off = self.scale * math.sqrt(1 + 1 / weight) * t_quantile(probability, self.freedom)
        return exponential(shift + middle + off)


def spread(evidence: PastAttempts, kind: Kind, measured: Measured) -> Spread:
    """Return the distribution of one quantity of one kind by the log, without estimates."""
    return _spread(evidence, kind, measured, 0.0)


def spread_by_estimate(evidence: PastAttempts, kind: Kind, measured: Measured) -> Spread:
    """Return the distribution given the estimates of the tasks: ask it with one."""
    return _spread(evidence, kind, measured, _slope(map(measured, evidence.here.values())))


def _spread(evidence: PastAttempts, kind: Kind, measured: Measured, slope: float) -> Spread:
    own = measured(evidence.own(kind))
    weight, total = own.count, own.y - slope * own.x
    for witness in evidence.witnesses(kind):
        sums = measured(witness.tally)
        if sums.count:
            counts = witness.weight(sums.count)
            weight += counts
            total += counts * (sums.y - slope * sums.x) / sums.count
    others = [measured(tally) for tally in evidence.here.values() if measured(tally) is not own]
    scale, freedom = _scatter(own, others, slope)
    return Spread(total / weight if weight else 0.0, weight, slope, scale, freedom)


def _slope(kinds: Iterable[Sums]) -> float:
    """Return how the logarithms of the measured values follow those of the estimates, within each kind."""
    along, both = SLOPE_STRENGTH, SLOPE_STRENGTH
    for sums in kinds:
        if sums.count > 0:
            along += max(0.0, sums.xx - sums.x * sums.x / sums.count)
            both += sums.xy - sums.x * sums.y / sums.count
    return min(1.5, max(0.0, both / along))


def _scatter(own: Sums, others: Iterable[Sums], slope: float) -> tuple[float, float]:
    """Return the distance of values from the middle of their kind, and the number of values behind that."""
    squares, freedom = _within(own, slope)
    seen = [_within(sums, slope) for sums in others]
    heard = sum(free for _, free in seen)
    share = min(1.0, MOST_FREEDOM / heard) if heard else 0.0
    total = FREEDOM + freedom + share * heard
    squares += FREEDOM * SPREAD**2 + share * sum(each for each, _ in seen)
    return math.sqrt(squares / total), total


def _within(sums: Sums, slope: float) -> tuple[float, float]:
    """The squares of the distances from the mean, and their degrees of freedom."""
    if sums.count <= 1:
        return 0.0, 0.0
    yy = sums.yy - sums.y * sums.y / sums.count
    xy = sums.xy - sums.x * sums.y / sums.count
    xx = sums.xx - sums.x * sums.x / sums.count
    return max(0.0, yy - 2 * slope * xy + slope * slope * xx), sums.count - 1
