"""The gap between calls: after a provider was closed, and where it counts calls per minute. Pure."""

from dataclasses import dataclass

from interlock.proxy.order import Allowance

STAGGER_SECONDS = 0.25
"""Between the first calls after a door opened: long enough for a refusal to come back."""
RAMP_SECONDS = 3.0
"""For all of them together at the most."""
IDLE_SECONDS = 10.0
PERIOD_SECONDS = 60.0
FEWEST = 4
"""Calls from which a rate can be told."""
MOST_GAP_SECONDS = 20.0
PATIENCE = 40
MOST_PATIENCE = 640
EASE = 0.99


@dataclass(slots=True)
class CallSpacing:
    """The time of the next call."""

    next_start: float = 0.0
    gap_seconds: float = 0.0
    ramp: int = 0
    """Calls that still go one by one, this far apart."""
    stagger_seconds: float = 0.0
    began: float = 0.0
    """Of the period in which `starts` are counted."""
    starts: int = 0
    last: float = 0.0
    calm: int = 0
    """Good answers since calls were last found to come too fast."""
    patience: int = PATIENCE
    """The number of them until calls come faster again; doubles when that was too fast."""

    def started(self, now: float) -> None:
        if now - self.last > IDLE_SECONDS:
            self.began, self.starts = now, 0
        elif now - self.began > PERIOD_SECONDS:
            self.began, self.starts = now - (now - self.began) / 2, self.starts // 2
        self.last, self.starts = now, self.starts + 1
        stagger = self.stagger_seconds if self.ramp > 0 else 0.0
        self.ramp = max(0, self.ramp - 1)
        self.next_start = max(self.next_start, now + max(stagger, self.gap_seconds))

    def spread(self, calls: int) -> None:
        """Room for so many comes at one moment: they must not come all at once."""
        self.ramp, self.stagger_seconds = calls, min(STAGGER_SECONDS, RAMP_SECONDS / calls)

    def too_fast(self, now: float, retry_after_seconds: float) -> bool:
        """Turned away for calls per time: what came through is what a period holds. False: too few went."""
        if self.starts < FEWEST:
            return False
        gap = (now - self.began + retry_after_seconds) / (self.starts - 1)
        if self.gap_seconds:
            self.patience = min(2 * self.patience, MOST_PATIENCE)
        self.gap_seconds = min(MOST_GAP_SECONDS, max(gap, self.gap_seconds))
        self.began, self.starts, self.calm = now + retry_after_seconds, 0, 0
        return True

    def told(self, now: float, allowance: Allowance, at_once: int) -> None:
        """Hardly any calls are left: go on as fast as they come back."""
        used = allowance.limit - allowance.remaining
        if used > 0 and allowance.remaining <= at_once:
            self.gap_seconds = min(MOST_GAP_SECONDS, allowance.reset_seconds / used)
            self.next_start, self.calm = max(self.next_start, now + self.gap_seconds), 0

    def good(self) -> None:
        """After a while without trouble, a little faster each time."""
        self.calm += 1
        if self.calm > self.patience:
            self.gap_seconds = self.gap_seconds * EASE if self.gap_seconds > 0.01 else 0.0
