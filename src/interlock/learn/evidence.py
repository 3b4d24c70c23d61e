"""Figures of a kind of work, by the log: the usual value and the 90 % quantile, and the chance to land.

Times, prices and tokens vary by factors rather than by amounts, so their logarithms are added up.

Rules:
1. The nearest attempts count: those of the very kind (category, agent and model) if there are ENOUGH of them,
   else those of its category and agent, of its category, of its agent, and last those of any work.
2. The distance of single values from the middle is known from few. So a usual one counts beside them.
"""

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields

from interlock.events.tallies import Sums, Tally
from interlock.model.numbers import exponential

ENOUGH = 2.5
"""Attempts: three, of which one may be some runs old."""
USUAL_SIGMA = 0.7
"""Spread of logarithms within one kind, until it is known better: two thirds lie within a factor of two."""
USUAL_COUNT = 4.0
"""Attempts that this counts for."""
P90_SIGMAS = 1.2815515655446004
"""The 90 % quantile of the standard normal distribution."""

PUBLISHED = {"docs": 0.82, "feature": 0.66}
"""Shares of agents' pull requests that were accepted, in public studies."""
UNKNOWN = 0.70
STRENGTH = 8.0
"""Attempts that a published share counts for. Shares differ between projects by some 0.15, which is the
deviation of a Beta distribution around 0.7 that rests on eight attempts."""
OTHERS = 4.0
"""The most attempts that those of other agents count for: a new agent is expected to do nearly as well."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work, done by one agent with one model."""

    category: str
    agent: str
    model: str = ""

    def is_of(self, tally: Tally) -> bool:
        return (tally.category, tally.agent, tally.model) == (self.category, self.agent, self.model)


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity whose logarithm has this middle and this deviation."""

    middle: float
    sigma: float

    @property
    def median(self) -> float:
        return exponential(self.middle)

    @property
    def p90(self) -> float:
        return exponential(self.middle + P90_SIGMAS * self.sigma)


def nearest(tallies: Collection[Tally], kind: Kind, measured: Callable[[Tally], Sums]) -> Sums:
    """Add up what was measured of the nearest attempts (rule 1); of all, if there are not enough."""
    found = Sums()
    for belongs in _NEAR:
        found = _total(measured(tally) for tally in tallies if belongs(tally, kind))
        if found.count >= ENOUGH:
            break
    return found


_NEAR: tuple[Callable[[Tally, Kind], bool], ...] = (
    lambda tally, kind: kind.is_of(tally),
    lambda tally, kind: (tally.category, tally.agent) == (kind.category, kind.agent),
    lambda tally, kind: tally.category == kind.category,
    lambda tally, kind: tally.agent == kind.agent,
    lambda _tally, _kind: True,
)


def _total(several: Iterable[Sums]) -> Sums:
    total = Sums()
    for sums in several:
        for each in fields(Sums):
            setattr(total, each.name, getattr(total, each.name) + getattr(sums, each.name))
    return total


def spread(sums: Sums) -> Spread | None:
    return _spread(sums.count, sums.count, sums.y, sums.yy) if sums.count else None


def spread_of_ratio(sums: Sums) -> Spread:
    """Return the distribution of measured values, each divided by its estimate. An estimate that is right
    counts as one attempt beside them."""
    return _spread(sums.count, sums.count + 1, sums.y - sums.x, sums.yy - 2 * sums.xy + sums.xx)


def _spread(seen: float, count: float, total: float, squares: float) -> Spread:
    within = max(0.0, squares - total * total / seen) if seen > 1 else 0.0
    variance = (USUAL_COUNT * USUAL_SIGMA**2 + within) / (USUAL_COUNT + max(0.0, seen - 1))
    return Spread(total / count, math.sqrt(variance * (1 + 1 / count)))


def success(tallies: Collection[Tally], kind: Kind) -> float:
    own = [tally for tally in tallies if kind.is_of(tally)]
    others = [tally for tally in tallies if tally.category == kind.category and not kind.is_of(tally)]
    landed = STRENGTH * PUBLISHED.get(kind.category, UNKNOWN) + sum(tally.landed for tally in own)
    attempts = STRENGTH + sum(tally.attempts for tally in own)
    if heard := sum(tally.attempts for tally in others):
        weight = min(heard, OTHERS)
        landed += weight * sum(tally.landed for tally in others) / heard
        attempts += weight
    return landed / attempts
