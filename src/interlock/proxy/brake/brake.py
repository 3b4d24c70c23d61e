"""The gate in front of models: calls go when their provider can take them, and in turn (K7, W11).

1. One account for each provider, shared by all attempts of this process.
2. A call waits here at most as long as programs bear; then it is answered as the provider would answer it.
3. Where a program has an account of its own and no call can be seen, the attempt counts as one long call. It
   never waits here: what its program says of refusals holds back those that have not started.
"""

import asyncio
import math
import re
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from interlock.model.outcome import ErrorClass
from interlock.model.provider import HOMES, is_account, provider_name
from interlock.proxy.brake.limit import CallLimit, Ticket
from interlock.proxy.brake.news import ProviderNews, Teller
from interlock.proxy.brake.throttle import REFUSALS, CallVerdict, Ending, Throttle
from interlock.proxy.gate import CallTurn, Refused
from interlock.proxy.order import CallError, CallOutcome, EndpointOrder, ModelCall

HOLD_SECONDS = 60.0
"""Programs wait for their models for minutes; and an attempt that says nothing for ten is ended."""
TRIES = 4
"""The number of tries of a call before its program hears that it was turned away."""
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_ERRORS = {
    CallVerdict.QUOTA: ErrorClass.QUOTA,
    CallVerdict.BROKEN: ErrorClass.NETWORK,
    CallVerdict.DOWN: ErrorClass.NETWORK,
}

T = TypeVar("T")


# The verdict of a call's end on its provider. Pure.

FAR_SECONDS = 900.0
"""A longer wait than this means a used-up quota: no caller is only too fast by so much."""
CROWDED_STATUSES = frozenset({200, 503, 529})
"""Statuses of an overload: at once, or in the middle of an answer. Other errors are the server's own."""
OVERLOADED = 529
"""The status of an overload that a program reports."""
_PER_TIME = re.compile(
    r"\bper[ -](?:second|minute|min|hour|day)\b|/(?:min|minute|day)\b|\b[RT]P[MDS]\b|too fast", re.IGNORECASE
)
_AT_ONCE = re.compile(r"concurren|simultaneous|in parallel|at once|in progress", re.IGNORECASE)


def ending_of(outcome: CallOutcome) -> Ending:
    """A call's end as the brake sees it."""
    trouble = outcome.trouble
    if trouble is None:
        answer = CallVerdict.GOOD if 200 <= outcome.status < 300 else CallVerdict.NOTHING
        return Ending(answer, tokens=outcome.usage.output_tokens or 0, allowance=outcome.allowance)
    answer = _answer(outcome.status, trouble)
    return Ending(answer, trouble.text, trouble.retry_after_seconds, allowance=outcome.allowance)


def ending_told(error: ErrorClass | None, text: str) -> Ending:
    """Judge an end of which only the program's word is known, of a call or of the whole attempt."""
    if error is None:
        return Ending(CallVerdict.GOOD)
    return Ending(_answer(OVERLOADED, CallError(error, text)), text)


def _answer(status: int, trouble: CallError) -> CallVerdict:
    if trouble.is_down:
        return CallVerdict.DOWN
    if trouble.error is ErrorClass.QUOTA:
        return CallVerdict.QUOTA
    if trouble.error is ErrorClass.RATE_LIMIT:
        return _refusal(trouble)
    if trouble.error is ErrorClass.OVERLOADED and status in CROWDED_STATUSES:
        return CallVerdict.CROWDED
    return (
        CallVerdict.BROKEN
        if trouble.error in (ErrorClass.OVERLOADED, ErrorClass.NETWORK)
        else CallVerdict.NOTHING
    )


def _refusal(trouble: CallError) -> CallVerdict:
    if trouble.retry_after_seconds > FAR_SECONDS:
        return CallVerdict.QUOTA
    is_per_time = _PER_TIME.search(trouble.text) and not _AT_ONCE.search(trouble.text)
    return CallVerdict.FAST if is_per_time else CallVerdict.CROWDED


class CallQueue(Generic[T]):
    """Waiting calls: first in, first out within an attempt, and the attempts in turn.

    An attempt with a hundred calls waits no shorter for its second than another for its first.
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(line) for line in self._lines.values())

    def join(self, attempt: str, waiter: T) -> None:
        self._lines.setdefault(attempt, deque()).append(waiter)

    def leave(self, attempt: str, waiter: T) -> None:
        """Remove a waiter, if it still waits."""
        line = self._lines.get(attempt)
        if line is not None and waiter in line:
            line.remove(waiter)
            if not line:
                del self._lines[attempt]

    def next(self) -> T:
        """Remove and return the next in turn. Raises KeyError if none waits."""
        attempt, line = self._lines.popitem(last=False)
        waiter = line.popleft()
        if line:
            self._lines[attempt] = line
        return waiter


# One provider, and the calls of this process to it. Other runs of the user find their own limits at the same
# provider: each gives way when it is turned away. Pure.

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


@dataclass(slots=True)
class Passage:
    """A call that went. Implements `CallTurn`."""

    ticket: Ticket
    may_repeat: bool
    ending: Ending = field(default_factory=lambda: Ending(CallVerdict.NOTHING))

    def ended(self, outcome: CallOutcome) -> None:
        self.ending = ending_of(outcome)


@dataclass(slots=True)
class Attendance:
    """The listener for one attempt whose calls do not go through the proxy. What its program says twice
    counts once, for it may ask again every few seconds."""

    pass_on: Callable[[Ending], None]
    said: set[ErrorClass] = field(default_factory=set)

    def hear(self, error: ErrorClass | None, text: str) -> None:
        """Its program says that a call was turned away, and goes on."""
        ending = ending_told(error, text)
        if error and error not in self.said and ending.answer in REFUSALS:
            self.said.add(error)
            self.pass_on(ending)

    def ended(self, error: ErrorClass | None, text: str) -> None:
        """One that got over a refusal shows neither that there is room nor that there is less."""
        if not self.said:
            self.pass_on(ending_told(error, text))


@dataclass(slots=True)
class _ProviderCalls:
    """The calls of this process at one provider."""

    provider: str
    account: Account
    line: CallQueue[asyncio.Future[Ticket]] = field(default_factory=CallQueue)
    timer: asyncio.TimerHandle | None = None


def own_clock() -> Callable[[], float]:
    """A clock that shows the time of this moment, and then goes on whatever the machine's clock is set to."""
    ahead = time.time() - time.clock_gettime(CLOCK)
    return lambda: time.clock_gettime(CLOCK) + ahead


class ProviderBrake:
    """The brakes of all providers, for one listener. Implements `interlock.proxy.Gate`."""

    def __init__(self, hold_seconds: float = HOLD_SECONDS, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or own_clock()
        self._teller = Teller(self.clock)
        self._hold_seconds = hold_seconds
        self._desks: dict[str, _ProviderCalls] = {}

    @asynccontextmanager
    async def turn(self, order: EndpointOrder, call: ModelCall) -> AsyncIterator[CallTurn]:
        """Wait for a place, then hold it as long as the call lasts."""
        if not call.generates:
            yield Passage(Ticket(0.0, 0), may_repeat=False)
            return
        desk = self._desk(provider_name(order.wire, order.upstream, order.key_env))
        left = self._hold_seconds - (asyncio.get_running_loop().time() - call.asked_at)
        passage = Passage(await self._wait(desk, order.name, left), call.tries + 1 < TRIES)
        try:
            yield passage
        finally:
            self._give_back(desk, passage)

    @contextmanager
    def attend(self, account: str) -> Iterator[Attendance]:
        """An attempt is made with an account of its program, for as long as this lasts."""
        desk = self._desk(account)
        ticket = desk.account.join(self.clock())
        self._let_go(desk)

        def pass_on(ending: Ending) -> None:
            desk.account.hear(self.clock(), ticket, ending)
            self._tell(desk)
            self._teller.count(account, ending.answer in REFUSALS)

        try:
            yield Attendance(pass_on)
        finally:
            desk.account.under_way -= 1
            self._let_go(desk)

    def look(self, provider: str, limit: float) -> ProviderNews:
        """This provider will be used. `limit` was found by an earlier run; 0: none was."""
        desk = self._desk(provider)
        is_known = limit >= 1 and not desk.account.throttle.calls
        if is_known:
            wall, now = int(limit) + 1, self.clock()
            desk.account.throttle.limit = CallLimit(limit, doubling=False, wall=wall, cut_at=now)
            desk.account.throttle.refused = 1  # in an earlier run
        self._tell(desk)
        if is_known:
            self._teller.take_as_told(provider)
        return self._teller.latest(provider)

    def found(self, provider: str, problem: str) -> None:
        """Note if a provider's server listens: `problem` says why it does not; '' if it does."""
        desk = self._desk(provider)
        desk.account.throttle.reached(self.clock(), problem)
        self._let_go(desk)

    async def wait(self) -> list[ProviderNews]:
        """Return the news; waits until there is some."""
        return await self._teller.wait()

    def rest(self) -> list[ProviderNews]:
        """Return the news that has not been told yet."""
        return self._teller.rest()

    def _desk(self, provider: str) -> _ProviderCalls:
        return self._desks.setdefault(provider, _ProviderCalls(provider, account_of(provider)))

    def _tell(self, desk: _ProviderCalls) -> None:
        self._teller.hear(desk.provider, desk.account.throttle)

    async def _wait(self, desk: _ProviderCalls, attempt: str, left: float) -> Ticket:
        waiter: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        desk.line.join(attempt, waiter)
        self._let_go(desk)
        news = self._teller.latest(desk.provider)
        closed = news.until - self.clock()
        # Waiting is in vain where the provider opens too late, and where another server may have the work.
        in_vain = closed > left or (closed > 0 and news.closed_by is CallVerdict.DOWN)
        try:
            async with asyncio.timeout(0.0 if in_vain else max(0.0, left)):
                return await asyncio.shield(waiter)
        except (TimeoutError, asyncio.CancelledError) as reason:
            self._withdraw(desk, attempt, waiter)
            if isinstance(reason, TimeoutError):
                raise self._refusal(desk) from None
            raise

    def _withdraw(self, desk: _ProviderCalls, attempt: str, waiter: asyncio.Future[Ticket]) -> None:
        if waiter.done():
            self._give_back(desk, Passage(waiter.result(), may_repeat=False))
        else:
            desk.line.leave(attempt, waiter)
            waiter.cancel()

    def _let_go(self, desk: _ProviderCalls) -> None:
        """Start the calls that may go; come back when the next one may."""
        if desk.timer:
            desk.timer.cancel()
            desk.timer = None
        while len(desk.line):
            taken = desk.account.take(self.clock())
            if not isinstance(taken, Ticket):
                if taken < math.inf:  # else the end of a call makes room
                    desk.timer = asyncio.get_running_loop().call_later(taken, self._let_go, desk)
                break
            desk.line.next().set_result(taken)
        self._tell(desk)

    def _give_back(self, desk: _ProviderCalls, passage: Passage) -> None:
        ending = passage.ending
        desk.account.give_back(self.clock(), passage.ticket, ending, len(desk.line))
        self._let_go(desk)
        self._teller.count(desk.provider, ending.answer in REFUSALS)

    def _refusal(self, desk: _ProviderCalls) -> Refused:
        news, now = self._teller.latest(desk.provider), self.clock()
        if news.until > now:
            message = (news.why.cause or news.why).text("text")
            text = f"the model at {desk.provider.partition(' ')[0]} takes no calls now ({message})"
            error = _ERRORS.get(news.closed_by, ErrorClass.RATE_LIMIT)
            return Refused(text, error, news.until - now, news.closed_by is CallVerdict.DOWN)
        text = f"the model takes {news.limit} calls at once, and others were before this one"
        return Refused(text, ErrorClass.RATE_LIMIT, 1.0)
