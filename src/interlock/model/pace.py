"""The usual time of a check, the limit beyond which it hangs, and both in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from interlock.model.durations import lasting, precisely
from interlock.model.shown import shown

RUNS_LEAST = 2
"""One run says little: it may have been the one that compiled everything."""
COMMAND_CHARACTERS = 60
OVERDUE_FACTOR, OVERDUE_SECONDS = 2.0, 10.0
"""Limits from which a check is called late. They do not end it."""


@dataclass(frozen=True, slots=True)
class HangLimits:
    """The limit at which a check hangs: `factor` times its usual time, and `seconds` more than that time."""

    factor: int = 10
    """0: no check is ended for this."""
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The usual time of a check, and its limit."""

    usual_seconds: float
    limit_seconds: float = 0.0
    """Beyond this it hangs and is ended. 0: it is not ended for this."""

    def is_overdue(self, seconds: float) -> bool:
        return seconds > max(OVERDUE_FACTOR * self.usual_seconds, self.usual_seconds + OVERDUE_SECONDS)


def pace_of(times: Sequence[float], patience: HangLimits) -> Pace | None:
    """Return the pace of a check from its earlier times in seconds; None if there are too few."""
    if len(times) < RUNS_LEAST:
        return None
    usual = median(times)
    longest = max(patience.factor * usual, usual + patience.seconds) if patience.factor else 0.0
    return Pace(usual, longest)


def check_words(command: str, seconds: float, pace: Pace | None) -> str:
    """A check that runs, as people are told of it."""
    named = shown(command, COMMAND_CHARACTERS)
    if pace is None or not pace.is_overdue(seconds):
        return f"checks with `{named}`"
    usual = precisely(pace.usual_seconds)
    ends = f"; ends after {lasting(pace.limit_seconds)}" if pace.limit_seconds else ""
    return f"`{named}` has been running for {lasting(seconds)}, usually {usual}{ends}"
