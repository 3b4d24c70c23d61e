"""From how many shared paths, as expected, on two tasks should be said to meet.

Two ways to tell from pairs of which one knows: the very best point of all, which for few pairs is a matter
of luck, and the best point of a smooth curve through them. The scheduler goes by a curve too, from paths to
the probability of a conflict.
"""

import math
from collections.abc import Iterable, Sequence

Scored = Sequence[tuple[float, bool]]
"""Shared paths of a pair, and whether it met."""

TINY = 1e-9
"""Sums of the same chances in another order are still the same."""
NOTHING = 1e-4
"""Shared paths that are fewer than this have the logarithm of this."""
STEPS = 12
DRAWN = 0.1
"""Pulls the curve towards P = paths / (1 + paths): it has a finite slope where a score tells all."""


def best_point(scored: Scored) -> float:
    """The threshold with the highest F1 on these pairs."""
    return _best([(score, float(met)) for score, met in scored])


def best_by_curve(scored: Scored) -> float:
    """The threshold with the highest F1 if pairs meet as often as a curve through them says."""
    logs = [(math.log(max(score, NOTHING)), met) for score, met in scored]
    offset, slope = _fitted(logs)
    if slope <= 0:
        return best_point(scored)
    chances = (_logistic(offset + slope * x) for x, _ in logs)
    return _best([(max(score, NOTHING), chance) for (score, _), chance in zip(scored, chances, strict=True)])


def _best(scored: Iterable[tuple[float, float]]) -> float:
    falling = sorted(scored, reverse=True)
    meet = sum(chance for _, chance in falling)
    right, best = 0.0, (0.0, math.inf)
    for said, (score, chance) in enumerate(falling, start=1):
        right += chance
        if score > 0 and (said == len(falling) or falling[said][0] < score):
            best = max(best, (2 * right / (said + meet), score - TINY))
    return best[1]


def _fitted(points: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Offset and slope of the likeliest logistic curve, by Newton's steps of at most one."""
    offset, slope = 0.0, 1.0
    for _ in range(STEPS):
        down, down_x = -DRAWN * offset, -DRAWN * (slope - 1)
        bend, bend_x, bend_xx = DRAWN, 0.0, DRAWN
        for x, met in points:
            chance = _logistic(offset + slope * x)
            weight = chance * (1 - chance)
            down, down_x = down + met - chance, down_x + (met - chance) * x
            bend, bend_x, bend_xx = bend + weight, bend_x + weight * x, bend_xx + weight * x * x
        whole = bend * bend_xx - bend_x * bend_x
        offset += _at_most_one((bend_xx * down - bend_x * down_x) / whole)
        slope += _at_most_one((bend * down_x - bend_x * down) / whole)
    return offset, slope


def _at_most_one(step: float) -> float:
    return max(-1.0, min(1.0, step))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))
