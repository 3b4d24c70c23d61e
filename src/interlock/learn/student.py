"""Quantiles of Student's t: how far off a value may be when its spread, too, is only known from a few."""

import math
from functools import lru_cache

_STEPS = 200
_TINY = 1e-300
_EXACT = 1e-12


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """The value that a t-distributed number stays below with this probability."""
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while t_below(high, freedom) < probability:
        low, high = high, 2 * high
    while high - low > _EXACT * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if t_below(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def t_below(value: float, freedom: float) -> float:
    """The probability that a t-distributed number is below `value`."""
    outside = beta_below(freedom / (freedom + value * value), freedom / 2, 0.5)
    return 1 - outside / 2 if value > 0 else outside / 2


def beta_below(value: float, a: float, b: float) -> float:
    """The probability that a beta-distributed number is below `value`: the regularized incomplete beta."""
    if not 0 < value < 1:
        return 0.0 if value <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(value) + b * math.log1p(-value)
    )
    # The fraction converges fast below the mean; above it the other tail is the same one mirrored.
    if value < (a + 1) / (a + b + 2):
        return front * _fraction(value, a, b) / a
    return 1 - front * _fraction(1 - value, b, a) / b


def _fraction(value: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * value / (a + 1))
    result = d
    for step in range(1, _STEPS):
        even = step * (b - step) * value / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * value / ((a + 2 * step) * (a + 2 * step + 1))
        change = 1.0
        for term in (even, odd):
            d, c = 1 / _off_zero(1 + term * d), _off_zero(1 + term / c)
            change = c * d
            result *= change
        if abs(change - 1) < _EXACT:
            break
    return result


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
