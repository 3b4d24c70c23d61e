"""A provider and its users in simulated time: the brake's core without a clock or a network."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from interlock.proxy.brake.brake import Account
from interlock.proxy.brake.limit import Ticket
from interlock.proxy.brake.throttle import CallVerdict, Ending

REFUSAL_SECONDS = 0.05
Limit = Callable[[float], float]


@dataclass
class Server:
    """Takes so many calls at once, and so many per minute; or works on so many and lets the others wait."""

    at_once: Limit = lambda _now: 1e9
    per_minute: float = 1e9
    speed: Limit = lambda _now: 1e9
    """How many calls at once are answered in the usual time; more make all of them slower."""
    retry_after_seconds: float = 0.0
    call_seconds: float = 1.0
    under_way: int = 0
    tokens: float = 0.0
    seen: float = 0.0
    dice: random.Random = field(default_factory=lambda: random.Random(7))

    def __post_init__(self) -> None:
        self.tokens = self.per_minute / 6

    def ask(self, now: float) -> tuple[float, Ending]:
        """How long the answer takes, and what it is."""
        self.tokens = min(self.per_minute / 6, self.tokens + (now - self.seen) * self.per_minute / 60)
        self.seen = now
        if self.under_way >= self.at_once(now):
            return REFUSAL_SECONDS, Ending(CallVerdict.CROWDED, "HTTP 429", self.retry_after_seconds)
        if self.tokens < 1:
            wait = (1 - self.tokens) * 60 / self.per_minute
            return REFUSAL_SECONDS, Ending(CallVerdict.FAST, "HTTP 429: requests per minute", wait)
        self.tokens -= 1
        self.under_way += 1
        slow = max(1.0, self.under_way / self.speed(now))
        return self.call_seconds * slow * self.dice.uniform(0.5, 1.5), Ending(CallVerdict.GOOD, tokens=100)


@dataclass
class Tally:
    """What came of it."""

    good: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    at_once: list[tuple[float, int]] = field(default_factory=list)
    by_user: dict[int, int] = field(default_factory=dict)

    def refused_per_100(self, after: float = 0.0, before: float = 1e9) -> float:
        bad, good = (sum(after <= at < before for at in times) for times in (self.refused, self.good))
        return 100 * bad / max(1, good + bad)

    def good_per_second(self, after: float, before: float) -> float:
        return sum(after <= at < before for at in self.good) / (before - after)


def simulate(account: Account, server: Server, users: int, seconds: float, think: float = 0.0) -> Tally:
    """Users of one process that ask again and again, each after a while of thinking; `seconds` of it."""
    tally, order = Tally(), count()
    todo: list[tuple[float, int, str, int, tuple[Ticket, Ending] | None]] = []
    waiting: list[int] = []
    look_at = 0.0
    for user in range(users):
        heapq.heappush(todo, (0.0, next(order), "ask", user, None))
    while todo and todo[0][0] < seconds:
        now, _, what, user, ended = heapq.heappop(todo)
        if what == "ask":
            waiting.append(user)
        elif ended:
            good = ended[1].answer is CallVerdict.GOOD
            server.under_way -= good
            (tally.good if good else tally.refused).append(now)
            account.give_back(now, *ended, len(waiting))
            tally.by_user[user] = tally.by_user.get(user, 0) + good
            heapq.heappush(todo, (now + (think if good else 0.0), next(order), "ask", user, None))
        while waiting:
            taken = account.take(now)
            if not isinstance(taken, Ticket):
                if taken < 1e6 and not now < look_at <= now + taken:
                    look_at = now + taken
                    heapq.heappush(todo, (now + taken, next(order), "look", -1, None))
                break
            tally.at_once.append((now, account.under_way))
            took, ending = server.ask(now)
            heapq.heappush(todo, (now + took, next(order), "end", waiting.pop(0), (taken, ending)))
    return tally
