"""One provider, and the processes that use it: who has calls under way, and whose turn is next. Pure.

A process that is gone gives its places back: by its death where that can be seen, else by its silence.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from interlock.proxy.brake.limit import Ticket
from interlock.proxy.brake.throttle import Ending, Throttle

SILENCE_SECONDS = 30.0
BEAT_SECONDS = 5.0
"""The interval at which a process says that it still has calls under way."""
POLL_SECONDS = 0.1
"""The interval at which a process looks if another has made room."""


@dataclass(frozen=True, slots=True)
class Member:
    """One process."""

    under_way: int = 0
    waiting: int = 0
    seen: float = 0.0


@dataclass(slots=True)
class Account:
    """The state that all users of one credential or server share."""

    throttle: Throttle = field(default_factory=Throttle)
    members: dict[str, Member] = field(default_factory=dict)

    @property
    def under_way(self) -> int:
        return sum(member.under_way for member in self.members.values())

    @property
    def waiting(self) -> int:
        return sum(member.waiting for member in self.members.values())

    def take(self, now: float, me: str, mine: Member) -> Ticket | float:
        """A call of mine may go; or how long to wait. `mine` is how things stand with me."""
        self.report(now, me, mine)
        seconds = self.throttle.wait_seconds(now, self.under_way)
        if seconds <= 0 and self._is_my_turn(me):
            ticket = self.throttle.begin(now, self.under_way)
            self.report(now, me, Member(mine.under_way + 1, mine.waiting - 1))
            return ticket
        alone = len(self.members) == 1
        return max(seconds, 0.001) if alone else min(max(seconds, 0.001), POLL_SECONDS)

    def join(self, now: float, me: str, mine: Member) -> Ticket:
        """An attempt of mine has begun that is not held back here. `mine` is how things stand without it."""
        ticket = self.throttle.begin(now, self.under_way)
        self.report(now, me, Member(mine.under_way + 1, mine.waiting))
        if not self.throttle.was_stopped:
            self.throttle.limit.move(max(self.throttle.limit.at_once, float(ticket.at_once)))
        return ticket

    def hear(self, now: float, ticket: Ticket, ending: Ending) -> None:
        """Take an ending of such an attempt, for all that are at work now: it may have begun alone."""
        at_work = self.under_way
        self.throttle.end(now, Ticket(ticket.at, at_work), ending, held_back=at_work >= self.throttle.places)

    def give_back(self, now: float, me: str, mine: Member, ticket: Ticket, ending: Ending) -> None:
        """A call of mine has ended. `mine` is how things stand without it."""
        self.report(now, me, Member(mine.under_way + 1, mine.waiting))
        held_back = self.waiting > 0 or self.under_way >= self.throttle.places
        self.report(now, me, mine)
        self.throttle.end(now, ticket, ending, held_back)

    def report(self, now: float, me: str, mine: Member) -> None:
        """I am there. What a process says of itself is right, whatever the file has kept of it."""
        if mine.under_way or mine.waiting:
            self.members[me] = replace(mine, seen=now)
        else:
            self.members.pop(me, None)

    def set_back(self, seconds: float) -> None:
        """Move all times: they were written by a clock that was ahead by so much."""
        throttle = self.throttle
        throttle.until -= seconds
        throttle.limit.cut_at -= seconds
        pace = throttle.pace
        pace.next_start, pace.began, pace.last = (
            at - seconds for at in (pace.next_start, pace.began, pace.last)
        )
        self.members = {name: replace(one, seen=one.seen - seconds) for name, one in self.members.items()}

    def forget(self, now: float, me: str, is_dead: Callable[[str], bool]) -> None:
        """Drop members that are gone. A clock that was set back keeps none alive for ever."""
        for name in self._others(me):
            if abs(now - self.members[name].seen) > SILENCE_SECONDS or is_dead(name):
                del self.members[name]

    def _is_my_turn(self, me: str) -> bool:
        """Let a member with less than a fair share go first; what others leave is free for all."""
        mine = self.members[me].under_way
        hungry = [self.members[name] for name in self._others(me) if self.members[name].waiting]
        share = self.throttle.places / (len(hungry) + 1)
        return not hungry or mine < share or all(member.under_way >= share for member in hungry)

    def _others(self, me: str) -> Iterable[str]:
        return [name for name in self.members if name != me]
