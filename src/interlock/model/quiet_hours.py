"""Hours of the day without messages, and in which work that a quota stopped does not go on."""

import re
from dataclasses import dataclass

from interlock.model.errors import UsageError

DAY_MINUTES = 24 * 60
_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one minute of the day to another, over midnight too."""

    begin: int
    end: int

    def minutes_left(self, minute: float) -> float:
        """Minutes until they are over; 0 outside of them."""
        length = (self.end - self.begin) % DAY_MINUTES
        passed = (minute - self.begin) % DAY_MINUTES
        return length - passed if passed < length else 0.0


def quiet_hours(text: str) -> QuietHours | None:
    """Read `22:00-07:00`; None for an empty text."""
    if not text:
        return None
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"`quiet_hours` cannot be {text!r}", 'for example: quiet_hours = "22:00-07:00"')
    begin, end = (int(found[hour]) * 60 + int(found[hour + 1]) for hour in (1, 3))
    return QuietHours(begin, end)
