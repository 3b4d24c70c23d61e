"""One provider, and the calls of this process to it: how many are under way, and how many wait. Pure.

Other runs of the user find their own limits at the same provider: each gives way when it is turned away.
"""

from dataclasses import dataclass, field

from interlock.model.provider import HOMES, is_account
from interlock.proxy.brake.limit import Ticket
from interlock.proxy.brake.throttle import Ending, Throttle

_KNOWN = tuple(f".{home.upstream.partition('://')[2]}" for home in HOMES.values() if home.key_env)


@dataclass(slots=True)
class Account:
    """The calls to one credential or server."""

    throttle: Throttle = field(default_factory=Throttle)
    under_way: int = 0

    def take(self, now: float) -> Ticket | float:
        """A call may go; or how long to wait. Infinite: until another has ended."""
        seconds = self.throttle.wait_seconds(now, self.under_way)
        return self._begin(now) if seconds <= 0 else max(seconds, 0.001)

    def join(self, now: float) -> Ticket:
        """An attempt has begun that is not held back here."""
        ticket = self._begin(now)
        if not self.throttle.was_stopped:
            self.throttle.limit.move(max(self.throttle.limit.at_once, float(ticket.at_once)))
        return ticket

    def hear(self, now: float, ticket: Ticket, ending: Ending) -> None:
        """Take an ending of such an attempt, for all that are at work now: it may have begun alone."""
        at_work = self.under_way
        self.throttle.end(now, Ticket(ticket.at, at_work), ending, held_back=at_work >= self.throttle.places)

    def give_back(self, now: float, ticket: Ticket, ending: Ending, waiting: int) -> None:
        """A call has ended, while so many waited."""
        held_back = waiting > 0 or self.under_way >= self.throttle.places
        self.under_way -= 1
        self.throttle.end(now, ticket, ending, held_back)

    def _begin(self, now: float) -> Ticket:
        ticket = self.throttle.begin(now, self.under_way)
        self.under_way += 1
        return ticket


def account_of(provider: str) -> Account:
    """Return a provider's first account, with a small limit that doubles."""
    host = provider.partition(" ")[0].partition(":")[0]
    # The known providers turn calls away. Any other server may be one that becomes slower instead.
    is_known = f".{host}".endswith(_KNOWN)
    # The duration of an attempt says nothing about the account it is made with.
    return Account(Throttle(is_measured=not is_known and not is_account(provider)))
