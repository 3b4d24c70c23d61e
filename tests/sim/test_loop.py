"""Virtual time itself: it costs nothing, it is repeatable, and it notices a deadlock. Serves R12."""

import asyncio

import pytest

from tests.sim.loop import Deadlock, Simulation, simulate

pytestmark = pytest.mark.sim


async def _a_day_of_ten_workers(simulation: Simulation) -> str:
    dice = simulation.dice("work")

    async def work(name: int) -> None:
        while simulation.now() < 86_400:
            await asyncio.sleep(dice.uniform(1, 900))
            simulation.note(f"worker {name}")

    async with asyncio.TaskGroup() as group:
        for name in range(10):
            group.create_task(work(name))
    return simulation.trace_hash


def test_a_day_passes_without_waiting_and_the_same_seed_gives_the_same_day() -> None:
    assert simulate(7, _a_day_of_ten_workers) == simulate(7, _a_day_of_ten_workers)
    assert simulate(7, _a_day_of_ten_workers) != simulate(8, _a_day_of_ten_workers)


def test_waiting_for_what_can_never_come_is_a_deadlock_with_a_message() -> None:
    async def wait_forever(simulation: Simulation) -> None:
        await asyncio.sleep(5)
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Deadlock, match=r"at 5\.000 s"):
        simulate(1, wait_forever)


def test_what_still_waits_at_the_end_is_dropped() -> None:
    dropped: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(1_000_000)
        finally:
            dropped.append("it")

    async def leave(simulation: Simulation) -> float:
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(3)
        assert not waiting.done()
        return simulation.now()

    assert simulate(1, leave) == 3.0
    assert dropped == ["it"]
