"""Limits on sessions that make no progress."""

from typing import NamedTuple


class CircleLimits(NamedTuple):
    """The limits of one session; 0: none."""

    repeats: int = 0
    """Tool calls, or messages, in a row that bring nothing new."""
    tokens: int = 0
    """Tokens since the last new edit."""
