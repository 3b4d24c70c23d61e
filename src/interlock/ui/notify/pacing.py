"""The time of messages: the first one at once, then not more often than a person wants, none in quiet hours.

It reads no clock. Times are seconds; `minute_of` gives the minute of the day at one.
"""

from collections.abc import Callable

from interlock.model.quiet_hours import QuietHours
from interlock.ui.words.notices import Notice

KEPT_MOST = 1_000
"""Notices that wait. More are counted by nobody: `interlock inbox` has them."""


class Pacing:
    """Notices that wait to be sent."""

    def __init__(
        self, every_seconds: float, quiet: QuietHours | None, minute_of: Callable[[float], float]
    ) -> None:
        self._every = every_seconds
        self._quiet = quiet
        self._minute_of = minute_of
        self._waiting: list[Notice] = []
        self._last: float | None = None

    def add(self, notice: Notice) -> None:
        if len(self._waiting) < KEPT_MOST:
            self._waiting.append(notice)

    def wait_seconds(self, now: float) -> float | None:
        """Seconds until a message is due; None: nothing waits."""
        if not self._waiting:
            return None
        gap = 0.0 if self._last is None else self._last + self._every - now
        quiet = self._quiet.minutes_left(self._minute_of(now)) * 60 if self._quiet else 0.0
        return max(0.0, gap, quiet)

    def take(self, now: float) -> list[Notice]:
        """The notices of one message, if it is due."""
        if self.wait_seconds(now) != 0.0:
            return []
        self._last = now
        taken, self._waiting = self._waiting, []
        return taken

    def take_last(self, now: float) -> list[Notice]:
        """What is left when a run ends: one more message, except in quiet hours."""
        if self._quiet and self._quiet.minutes_left(self._minute_of(now)):
            return []
        taken, self._waiting = self._waiting, []
        return taken
