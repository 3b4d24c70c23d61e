"""Operations on a log that every store shares: date facts, chain them, copy a log to another store."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from interlock.events.facts import BuildStarted, Fact, PhaseStarted, RunStarted
from interlock.events.record import GENESIS, Recorded, seal, verify_chain
from interlock.model.claim import CONTROLLER, slot_resource, task_resource
from interlock.model.errors import UsageError

PAGE = 1000
"""Facts read at a time while exporting."""

_row = msgspec.json.Decoder(Recorded)


@dataclass(frozen=True, slots=True)
class Head:
    """The last row of the log: what the next one is chained to."""

    seq: int = 0
    hash: str = GENESIS
    time: float = 0.0


def steady_seconds() -> float:
    """Seconds of a clock that no person and no time server can set. On Linux it also counts a suspension."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class LogClock:
    """The time of a log, as one process reads it: the database's clock, but it never goes back or stops.

    A clock that was ahead for one command dates a fact in the future. The log goes on from that time, and
    from then on its time passes as fast as a steady clock does. So a wait of N seconds that a fact began ends
    at the latest N seconds after a process has read that fact, even if a person sets the clock.
    """

    def __init__(self, ticks: Callable[[], float] = steady_seconds) -> None:
        self._ticks = ticks
        self._ahead = -math.inf
        """The time of the log minus the steady clock. It only grows."""

    def read(self, database: float, newest: float) -> float:
        """The time now, given the database's clock and the time of the newest fact."""
        ticks = self._ticks()
        now = round(max(database, newest, ticks + self._ahead), 3)
        self._ahead = now - ticks
        return now


def rows_after(head: Head, now: float, actor: str, facts: Sequence[Fact]) -> list[Recorded]:
    """The facts as the rows that follow `head`, at the time that the log's clock shows."""
    rows: list[Recorded] = []
    seq, previous = head.seq, head.hash
    for fact in facts:
        seq += 1
        row = seal(previous, seq, now, actor, fact)
        rows.append(row)
        previous = row.hash
    return rows


async def export_lines(read: Callable[[int, int], Awaitable[list[Recorded]]]) -> AsyncIterator[str]:
    """The whole log, a page at a time. Facts never change, so no lock is needed between the pages."""
    after = 0
    while rows := await read(after, PAGE):
        for row in rows:
            yield msgspec.json.encode(row).decode()
        after = rows[-1].seq


async def checked_rows(lines: AsyncIterator[str]) -> list[Recorded]:
    """The rows of an export, with their chain verified before any of them is written."""
    rows: list[Recorded] = []
    number = 0
    async for line in lines:
        number += 1
        if not line.strip():
            continue
        try:
            rows.append(_row.decode(line))
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise UsageError(
                f"line {number} of the export is not a fact: {error}",
                "export the log again; every line must be one JSON object",
            ) from error
    verify_chain(rows)
    return rows


def epochs_in(rows: Iterable[Recorded]) -> dict[str, int]:
    """The highest epoch handed out per resource, as the log tells it.

    The claim table is not part of an export. Epochs that began at 1 again after a restore would be older than
    the fence in git and than the facts themselves, so they go on from here.
    """
    epochs: dict[str, int] = {}
    for row in rows:
        if row.kind not in (PhaseStarted.__name__, BuildStarted.__name__, RunStarted.__name__):
            continue
        fact = row.fact
        if isinstance(fact, PhaseStarted):
            resource, epoch = task_resource(fact.task), fact.epoch
        elif isinstance(fact, BuildStarted):
            resource, epoch = slot_resource(fact.slot), fact.epoch
        elif isinstance(fact, RunStarted):
            resource, epoch = CONTROLLER, fact.generation
        else:
            continue
        epochs[resource] = max(epoch, epochs.get(resource, 0))
    return epochs


# Waking those who wait for facts in this process.


class Bell:
    """Rings when there may be new facts.

    Note `rings` before looking at the log and hand it to `wait_for_ring`: no ring in between is missed then.
    The waiters are kept in a list, not a set: they wake in the order they came, so that a simulation with the
    same seed stays the same.
    """

    def __init__(self) -> None:
        self.rings = 0
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        self.rings += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_for_ring(self, since: int, seconds: float) -> bool:
        """True once the bell has rung more often than `since`, False if the time is over."""
        if self.rings != since:
            return True
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            rang, _ = await asyncio.wait([waiter], timeout=seconds)
            return bool(rang)
        finally:
            self._waiting.remove(waiter)
