"""The state of one provider, and its rules for the next call. Pure: the time is an argument."""

import math
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.model.backoff import grown
from interlock.model.reason import Reason, Value, Why, said
from interlock.proxy.brake.gradient import Gradient
from interlock.proxy.brake.limit import CallLimit, Ticket
from interlock.proxy.order import Allowance

MOST_CLOSED_SECONDS = 24 * 3600.0
"""The longest pause that a provider can ask for: its clock may be wrong."""
BACKOFF_SECONDS = 0.25
MOST_BACKOFF_SECONDS = 30.0
QUOTA_SECONDS = 60.0
"""The first pause where the provider does not say when quota returns; doubling."""
MOST_QUOTA_SECONDS = 3600.0
DOWN_SECONDS = 3.0
"""Pause before a server that does not listen is tried again; it doubles."""
MOST_DOWN_SECONDS = 60.0
CHECK_AHEAD_SECONDS = 1.5
"""Time before that at which the server is tried, so that no agent has to."""
BREAKS = 5
"""Calls in a row that broke, until the way is taken for broken."""
WHY_CHARACTERS = 200


# The gap between calls: after a provider was closed, and where it counts calls per minute. Pure.

STAGGER_SECONDS = 0.25
"""Between the first calls after a provider opened again: long enough for a refusal to come back."""
RAMP_SECONDS = 3.0
"""Longest time for all first calls together."""
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
    """Begin of the period in which `starts` are counted."""
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
        """Allow a little more each time, after a while without trouble."""
        self.calm += 1
        if self.calm > self.patience:
            self.gap_seconds = self.gap_seconds * EASE if self.gap_seconds > 0.01 else 0.0


class CallVerdict(StrEnum):
    """The verdict of a call's end on its provider."""

    GOOD = "good"
    CROWDED = "too many at once"
    FAST = "too many per time"
    QUOTA = "quota"
    BROKEN = "broken"
    DOWN = "down"
    """No server listens there."""
    NOTHING = "nothing"
    """A bad request, a wrong key, a program that went away."""


REFUSALS = frozenset({CallVerdict.CROWDED, CallVerdict.FAST, CallVerdict.QUOTA})


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a call."""

    answer: CallVerdict
    text: str = ""
    retry_after_seconds: float = 0.0
    tokens: int = 0
    allowance: Allowance | None = None


@dataclass(slots=True)
class Throttle:
    """The limits of one credential or model server, for all of its users."""

    is_measured: bool = False
    """True for a server that may become slower instead of turning calls away."""
    limit: CallLimit = field(default_factory=CallLimit)
    gradient: Gradient = field(default_factory=Gradient)
    pace: CallSpacing = field(default_factory=CallSpacing)
    until: float = 0.0
    """No call goes before this time."""
    closed_by: CallVerdict = CallVerdict.GOOD
    why: Reason = field(default_factory=lambda: Reason(Why.NOTHING_KNOWN))
    strikes: int = 0
    """Refusals in a row."""
    broken: int = 0
    calls: int = 0
    refused: int = 0

    @property
    def places(self) -> int:
        """Return the number of calls allowed at once. While the server is broken, one at a time tests it."""
        return 1 if self.broken >= BREAKS else int(self.limit.at_once)

    @property
    def was_stopped(self) -> bool:
        """Tell if the limit was reached. Else it is only the most that was tried."""
        return self.refused > 0 or self.gradient.settled or self.broken >= BREAKS

    def wait_seconds(self, now: float, under_way: int) -> float:
        """Until the next call may go; infinite: until another has ended."""
        opens = max(self.until, self.pace.next_start)
        if opens > now:
            return opens - now
        return 0.0 if under_way < self.places else math.inf

    def begin(self, now: float, under_way: int) -> Ticket:
        self.calls += 1
        self.pace.started(now)
        return Ticket(now, under_way + 1)

    def end(self, now: float, ticket: Ticket, ending: Ending, held_back: bool) -> None:
        """A call has ended. `held_back`: the limit kept others waiting meanwhile."""
        if ending.allowance:
            self.pace.told(now, ending.allowance, ticket.at_once)
        if ending.answer is CallVerdict.GOOD:
            self._good(now, ticket, ending, held_back)
        elif ending.answer in REFUSALS:
            self._refused(now, ticket, ending)
        elif ending.answer is CallVerdict.BROKEN:
            self._broke(now, ending)
        elif ending.answer is CallVerdict.DOWN:
            self._went_down(now, ending.text)

    def reached(self, now: float, problem: str) -> None:
        """Note a try from outside: `problem` says why nothing listens there; '' if something does."""
        if problem:
            self._went_down(now, problem)
        elif self.closed_by is CallVerdict.DOWN:
            self.until, self.closed_by, self.broken, self.why = (
                0.0,
                CallVerdict.GOOD,
                0,
                Reason(Why.REACHED),
            )

    def _went_down(self, now: float, why: str) -> None:
        """Close the provider, unless this call only repeats what is already known."""
        if self.closed_by is CallVerdict.DOWN and self.until > now + CHECK_AHEAD_SECONDS:
            return
        self.broken = max(BREAKS, self.broken + 1)
        self._shut(now, grown(DOWN_SECONDS, MOST_DOWN_SECONDS, self.broken - BREAKS), CallVerdict.DOWN)
        self.why = said(why[:WHY_CHARACTERS])

    def _good(self, now: float, ticket: Ticket, ending: Ending, held_back: bool) -> None:
        self.strikes = self.broken = 0
        self.pace.good()
        before = self.places
        if self.is_measured and not self.limit.is_at_the_wall:
            seconds = now - ticket.at
            self.limit.move(self.gradient.next_level(before, ticket.at_once, seconds, ending.tokens))
        elif held_back:
            self.limit.good(now, ticket)
        if self.places > before:
            self.why = Reason(Why.WENT_WELL, {"at_once": before})
        elif self.places < before:
            self.why = Reason(Why.NO_FASTER, {"at_once": before, "now_at_once": self.places})

    def _refused(self, now: float, ticket: Ticket, ending: Ending) -> None:
        self.refused += 1
        before = self.places
        if ending.answer is CallVerdict.QUOTA:
            self.strikes += 1
            seconds = grown(QUOTA_SECONDS, MOST_QUOTA_SECONDS, self.strikes - 1)
        elif ending.answer is CallVerdict.FAST and self.pace.too_fast(now, ending.retry_after_seconds):
            seconds = self.pace.gap_seconds
        else:
            self.strikes += self.limit.refused(now, ticket)
            self.gradient.forget()
            # The first refusal costs half of the limit, which says enough; only more close the provider.
            backoff = grown(BACKOFF_SECONDS, MOST_BACKOFF_SECONDS, self.strikes - 1)
            seconds = backoff if self.strikes > 1 else 0.0
        self._shut(now, ending.retry_after_seconds or seconds, ending.answer)
        self.why = said(ending.text[:WHY_CHARACTERS])
        if self.places < before:
            cut: dict[str, Value] = {"at_once": before, "now_at_once": self.places, "cause": self.why}
            self.why = Reason(Why.REFUSED, cut)

    def _broke(self, now: float, ending: Ending) -> None:
        self.broken += 1
        if self.broken >= BREAKS:
            seconds = grown(2 * BACKOFF_SECONDS, MOST_BACKOFF_SECONDS, self.broken - BREAKS)
            self._shut(now, seconds, CallVerdict.BROKEN)
            text = ending.text[:WHY_CHARACTERS]
            self.why = Reason(Why.BROKE, {"times": self.broken, "cause": said(text)})

    def _shut(self, now: float, seconds: float, answer: CallVerdict) -> None:
        until = now + min(seconds, MOST_CLOSED_SECONDS)
        if seconds > 0 and until > self.until:
            self.until, self.closed_by = until, answer
            self.pace.spread(self.places)
