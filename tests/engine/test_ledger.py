"""What the engine writes is written, however long the store cannot be used."""

from collections.abc import Sequence

from interlock.engine.ledger import Ledger
from interlock.events.facts import Fact
from interlock.events.record import Recorded
from interlock.model.claim import Claim
from interlock.model.errors import StoreUnavailable
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
