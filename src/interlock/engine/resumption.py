"""The time at which work goes on that a quota stopped: not in quiet hours, unless a person said so."""

import time
from collections.abc import Callable

from interlock.engine.settings import Settings
from interlock.model.quiet_hours import quiet_hours


def held_until_morning(
    settings: Settings, minute_of: Callable[[float], float] | None = None
) -> Callable[[float], float]:
    """Return the function that gives the wait at a time: the rest of the quiet hours that it is in."""
    hours = None if settings.resume_in_quiet_hours else quiet_hours(settings.quiet_hours)
    minute_of = minute_of or minute_of_day
    return lambda seconds: hours.minutes_left(minute_of(seconds)) * 60.0 if hours else 0.0


def minute_of_day(seconds: float) -> float:
    """Return the minute of the day where the person lives."""
    local = time.localtime(seconds)
    return local.tm_hour * 60 + local.tm_min + local.tm_sec / 60
