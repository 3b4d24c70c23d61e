"""The three kinds of log that the contract suite runs on, behind one face."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from interlock.events.facts import Fact, TaskReset
from interlock.events.record import Recorded, verify_chain
from interlock.model.claim import Claim
from interlock.model.task import TaskId
from interlock.store import Store
from tests.sim.memory_store import MemoryStore

GIVE_UP_SECONDS = 60
"""A story that hangs has failed."""
LONG = 600.0
SHORT = 0.05
"""Leases that outlive a test, and that do not."""
HOUR = 3600.0
"""For waits that are to be ended by what they wait for, and not by their time being over."""

Story = Callable[[Store, Store], Awaitable[None]]


@dataclass(frozen=True)
class Log:
    """A fresh, empty log."""

    connect: Callable[[], Store]
    """One more connection to it."""
    pass_time: Callable[[Store, float], Awaitable[None]]
    """Return when the database's clock has moved on by that many seconds."""
    url: str = ""
    project: str = ""

    def play(self, story: Story) -> None:
        """Tell a story of two processes, each with its own connection."""

        async def told() -> None:
            one, two = self.connect(), self.connect()
            try:
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    await story(one, two)
            finally:
                await one.close()
                await two.close()

        asyncio.run(told())


def memory_log() -> Log:
    """A log whose clock moves only when it is told to."""
    time = [1_000_000.0]
    store = MemoryStore(lambda: time[0])

    async def pass_time(_: Store, seconds: float) -> None:
        time[0] += seconds

    return Log(lambda: store, pass_time)


async def wait_on_clock(store: Store, seconds: float) -> None:
    """Look at the database's clock until it is late enough."""
    end = await store.now() + seconds
    while await store.now() <= end:  # noqa: ASYNC110 - a database's clock tells nobody that it moved
        await asyncio.sleep(0.01)


async def whole_log(store: Store) -> list[Recorded]:
    """Every fact, with the chain verified."""
    rows: list[Recorded] = []
    while page := await store.read(len(rows)):
        rows += page
    assert verify_chain(rows) == len(rows)
    return rows


def reset(name: str, why: str = "") -> Fact:
    """A fact that is short to write."""
    return TaskReset(TaskId(name), why)


def names(rows: list[Recorded]) -> list[str]:
    """Which tasks the facts made by `reset` are about."""
    return [row.fact.task for row in rows if isinstance(row.fact, TaskReset)]


def nothing(_: int) -> Sequence[Fact]:
    """No facts to go with a claim."""
    return ()


async def take(store: Store, resource: str, holder: str = "anna", seconds: float = LONG) -> Claim:
    """Claim what is known to be free."""
    got = await store.claim(resource, holder, seconds, nothing)
    assert got is not None
    return got[0]
