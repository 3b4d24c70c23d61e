"""Questions of programs about a project while its loop runs, here or in another process (W14)."""

import asyncio
from collections.abc import Iterable

from interlock.engine.identity import in_charge
from interlock.engine.loading import catch_up, load_state
from interlock.engine.slots import Slots, slots_of
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.store import Store


class Calls:
    """Questions and waits that need nothing but the log."""

    store: Store

    async def is_running(self) -> bool:
        """Return True if a live loop is in charge of this project."""
        return in_charge(await self.store.held()) is not None

    async def slots(self) -> Slots:
        """Count the agents that may work at once, that do, and that could still start: in all and by role."""
        state = await load_state(self.store)
        return slots_of(state, Board(state), await self.is_running())

    async def free_slots(self, role: str = "") -> int:
        """Count the agents (of one role) that the running loop would start right now; 0 if none runs."""
        slots = await self.slots()
        return slots.roles[role].free if role else slots.free

    async def wait_for(self, tasks: Iterable[TaskId], timeout_seconds: float | None = None) -> bool:
        """Wait until these tasks are over, however they end; False if the time or the run is over first."""
        state, names = await load_state(self.store), list(tasks)
        try:
            async with asyncio.timeout(timeout_seconds):
                while not all(state.is_done(name) or state.tasks[name].is_over for name in names):
                    if not await self.is_running():
                        return False
                    await self.store.wait(state.seq, 1.0)
                    await catch_up(self.store, state)
        except TimeoutError:
            return False
        return True

    async def wait_until_rest(self, timeout_seconds: float | None = None) -> bool:
        """Wait until no loop is in charge any more; False when the time is over first."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while await self.is_running():
                    await self.store.wait(await self.store.head(), 1.0)
        except TimeoutError:
            return False
        return True
