"""What the engine writes is written, however long the store cannot be used."""

import asyncio
from collections.abc import Sequence

from interlock.engine.ledger import SNAPSHOT_EVERY, Ledger
from interlock.events.facts import Fact, TaskAccepted
from interlock.events.fold import fold
from interlock.events.record import Recorded
from interlock.events.snapshot import unpack
from interlock.model.claim import Claim
from interlock.model.errors import StoreUnavailable
from interlock.model.task import Agent, Task, TaskId
from tests.sim.loop import Simulation, simulate
from tests.sim.memory_store import MemoryStore
from tests.store.logs import names, reset

HOUR = 3600.0


class Away(MemoryStore):
    """A store that cannot be written for its first hour."""

    async def append(self, facts: Sequence[Fact], actor: str, fences: Sequence[Claim] = ()) -> list[Recorded]:
        if self._clock() < HOUR:
            raise StoreUnavailable("the disk is full", "free some space")
        return await super().append(facts, actor, fences)


def test_a_write_is_tried_for_an_hour_and_then_it_is_in_the_log() -> None:
    told: list[str] = []

    async def story(world: Simulation) -> list[str]:
        store = Away(world.now)
        ledger = Ledger(store, "anna", lambda _, __: None, told.append)
        await ledger.append([reset("a")])
        assert HOUR <= world.now() < 2 * HOUR
        return names(await store.read(0))

    assert simulate(1, story) == ["a"]
    assert 10 < len(told) < 1000  # it says so each time, and not twice a second
    assert all("the log cannot be written" in line for line in told)


class Slow(MemoryStore):
    """A store that saves a snapshot when it is told to."""

    def __init__(self, world: Simulation) -> None:
        super().__init__(world.now)
        self.may_save = asyncio.Event()

    async def save_snapshot(self, seq: int, data: bytes) -> None:
        await self.may_save.wait()
        await super().save_snapshot(seq, data)


def test_the_fold_goes_on_while_a_snapshot_is_saved_and_does_not_change_it() -> None:
    async def story(world: Simulation) -> None:
        store = Slow(world)
        ledger = Ledger(store, "anna", lambda _, __: None, lambda _: None)
        await ledger.append([reset("a")] * SNAPSHOT_EVERY)
        await ledger.catch_up()
        await asyncio.sleep(0)
        task = Task(TaskId("late"), "x", Agent("x", "command"))
        await ledger.append([TaskAccepted(task)])
        await ledger.catch_up()
        assert "late" in ledger.state.tasks
        store.may_save.set()
        await ledger.close(HOUR)
        saved = await store.load_snapshot()
        assert saved and saved[0] == SNAPSHOT_EVERY
        assert unpack(saved[2], saved[1]) == fold(await store.read(0, SNAPSHOT_EVERY))

    simulate(1, story)
