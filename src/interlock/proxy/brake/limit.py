"""The number of calls at once that a provider takes, found by its refusals. Pure: the time is an argument.

1. The limit grows by good answers only, and only while it is what holds calls back: doubling each round until
   the first refusal, by one a round after it.
2. It halves when a call is turned away, once a round trip: calls that were under way then know no better.
3. The number that was turned away is remembered as a wall. Below it the limit comes back half of the way each
   round. The wall itself is tried again after a number of good answers that doubles with each try that fails,
   and a failed try takes back its own step only. Plain AIMD runs into the wall once in a few dozen calls.
"""

from dataclasses import dataclass

COLD = 2.0
"""Calls at once without any history."""
MOST = 256.0
PATIENCE = 40
MOST_PATIENCE = 640
WALL_SECONDS = 120.0
"""Time before a refused number is tried again, with any number of answers; longer after failed tries."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The leave to make one call."""

    at: float
    """The time it started."""
    at_once: int
    """The number of calls under way then, itself included."""


@dataclass(slots=True)
class CallLimit:
    """Additive increase, multiplicative decrease, with a memory."""

    at_once: float = COLD
    doubling: bool = True
    wall: int = 0
    """The fewest calls at once that were turned away; 0: none is known."""
    calm: int = 0
    """Good answers since the last refusal, while the limit held calls back."""
    patience: int = PATIENCE
    trying: bool = False
    cut_at: float = 0.0

    @property
    def is_at_the_wall(self) -> bool:
        """Tell if there is nothing left to gain without trying the wall."""
        return self.wall > 0 and self.at_once >= self.wall - 1

    def good(self, now: float, ticket: Ticket) -> None:
        """An answer came while the limit held other calls back."""
        self.calm += 1
        if self.trying:
            self._go_on_trying(ticket)
        elif self.is_at_the_wall:
            self._try_the_wall(now)
        elif self.wall:
            missing = self.wall - 1 - self.at_once
            self.at_once += min(missing, max(1.0, missing / 2) / self.at_once)
        else:
            self.move(self.at_once + (1.0 if self.doubling else 1 / self.at_once))

    def move(self, at_once: float) -> None:
        """Set it, as far as the wall allows."""
        self.at_once = max(1.0, min(at_once, MOST, self.wall - 1 if self.wall else MOST))

    def refused(self, now: float, ticket: Ticket) -> bool:
        """A call was turned away; is that news, or was it under way when the limit was cut."""
        self.doubling = False
        self.wall = min(self.wall or ticket.at_once, max(2, ticket.at_once))
        if ticket.at <= self.cut_at:
            return False
        if self.trying:
            self.at_once, self.patience = float(self.wall - 1), min(2 * self.patience, MOST_PATIENCE)
        else:
            self.at_once = min(self.at_once, ticket.at_once) / 2
        self.at_once = max(1.0, self.at_once)
        self.trying, self.calm, self.cut_at = False, 0, now
        return True

    def _try_the_wall(self, now: float) -> None:
        seconds = WALL_SECONDS * self.patience / PATIENCE
        if self.calm >= self.patience or now >= self.cut_at + seconds:
            self.trying, self.at_once, self.calm = True, float(self.wall), 0

    def _go_on_trying(self, ticket: Ticket) -> None:
        """A whole round beyond the old wall went well: it is gone."""
        if ticket.at_once < self.wall:
            self.calm -= 1
        elif self.calm >= self.wall:
            self.wall, self.trying, self.calm, self.patience = 0, False, 0, PATIENCE
