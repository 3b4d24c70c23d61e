"""Pauses between tries of what failed."""

MOST_DOUBLINGS = 60
"""More would leave the range of a float after a day of tries; every limit is reached long before."""


def grown(first: float, most: float, times: int) -> float:
    """The pause after a failure that `times` others went before: twice as long each time, up to `most`."""
    return min(most, first * 2.0 ** min(times, MOST_DOUBLINGS))
