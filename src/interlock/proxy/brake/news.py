"""News of providers: only what matters, and not too often."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from interlock.model.reason import Reason
from interlock.proxy.brake.throttle import CallVerdict, Throttle

EVERY_SECONDS = 1.0
STEP = 0.25
"""A limit that moved by less than this share is no news."""


@dataclass(frozen=True, slots=True)
class ProviderNews:
    """The state of one provider."""

    provider: str
    limit: int
    why: Reason
    until: float = 0.0
    """End of the closing, by this machine's clock; 0: it is open."""
    closed_seconds: float = 0.0
    """The same from the moment it is told."""
    found: bool = False
    """The limit was run into. Else it is only the most that was tried."""
    closed_by: CallVerdict = CallVerdict.GOOD
    calls: int = 0
    """Calls of this process since the last news."""
    refused: int = 0


@dataclass(slots=True)
class _Subject:
    latest: ProviderNews
    told: ProviderNews | None = None
    told_at: float = 0.0
    calls: int = 0
    refused: int = 0


@dataclass(slots=True)
class Teller:
    """Collects what changes, for one listener."""

    clock: Callable[[], float]
    _subjects: dict[str, _Subject] = field(default_factory=dict)
    _ring: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, provider: str, throttle: Throttle) -> None:
        """Take a provider's present state."""
        until = throttle.until if throttle.until > self.clock() else 0.0
        latest = ProviderNews(
            provider,
            throttle.places,
            throttle.why,
            until,
            found=throttle.was_stopped,
            closed_by=throttle.closed_by,
        )
        subject = self._subjects.setdefault(provider, _Subject(latest))
        subject.latest = latest
        if _matters(subject):
            self._ring.set()

    def count(self, provider: str, refused: bool) -> None:
        """A call of this process ended."""
        subject = self._subjects[provider]
        subject.calls += 1
        subject.refused += refused

    def take_as_told(self, provider: str) -> None:
        """Take the present state of a provider as known to the log: only a change of it is news."""
        subject = self._subjects[provider]
        if not subject.latest.until:
            subject.told = subject.latest

    def latest(self, provider: str) -> ProviderNews:
        return self._subjects[provider].latest

    async def wait(self) -> list[ProviderNews]:
        """Return the news. Waits until there is some, and a second between two."""
        while True:
            await self._ring.wait()
            self._ring.clear()
            due = [subject for subject in self._subjects.values() if _matters(subject)]
            late = [subject for subject in due if self.clock() - subject.told_at >= EVERY_SECONDS]
            if late:
                return [self._tell(subject) for subject in late]
            if due:
                await asyncio.sleep(EVERY_SECONDS)
                self._ring.set()

    def rest(self) -> list[ProviderNews]:
        """Return the news that has not been told yet: the calls since the last news, and any change."""
        return [self._tell(each) for each in self._subjects.values() if each.calls or _matters(each)]

    def _tell(self, subject: _Subject) -> ProviderNews:
        subject.told, subject.told_at = subject.latest, self.clock()
        closed = max(0.0, subject.latest.until - subject.told_at)
        news = replace(subject.latest, closed_seconds=closed, calls=subject.calls, refused=subject.refused)
        subject.calls = subject.refused = 0
        return news


def _matters(subject: _Subject) -> bool:
    """Tell if it matters. A limit without a refusal blocks no call, and is told with the last news only."""
    latest, told = subject.latest, subject.told
    is_closed = bool(latest.until or (told and told.until))
    if not latest.found and not is_closed:
        return False
    if told is None or abs(latest.until - told.until) > EVERY_SECONDS:
        return True
    return abs(latest.limit - told.limit) > max(0.5, STEP * told.limit)
