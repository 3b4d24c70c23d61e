"""Numbers that come from outside: what programs print, servers answer, and logs hold.

Any of them may be negative, without end, not a number, or of ten thousand digits. What is added up, or goes
into a logarithm, passes through here first.
"""

import math

MOST = 10**11
"""The largest number of a fact: as seconds since 1970 the year 5138, as tokens or dollars more than exist."""
LEAST = 1e-9
"""The least value that has a logarithm."""
_LARGEST = math.log(MOST)


def bounded(value: float, least: float = 0, most: float = MOST) -> float:
    """The number, or the limit that it exceeds; what is not a number counts as 0. A whole one stays whole."""
    return min(max(value, least), most) if value == value else max(0, least)  # noqa: PLR0124 - nan differs


def logarithm(value: float) -> float:
    """The natural one, of a number that may be 0 or anything else."""
    return math.log(bounded(value, LEAST))


def exponential(power: float) -> float:
    """Return e to this power, from 0 to `MOST`."""
    return math.exp(bounded(power, -_LARGEST, _LARGEST))


def whole(value: object) -> int:
    """The count that `value` is, from 0 to `MOST`; 0 for anything that is not a number."""
    number = amount(value)
    return 0 if number is None else int(number)


def amount(value: object) -> float | None:
    """The amount that `value` is, from 0 to `MOST`; None for anything that is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - nan differs from itself
        return None
    return float(bounded(value))
