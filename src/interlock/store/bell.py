"""Waking those who wait for facts in this process."""

import asyncio


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
        """Wake everyone who waits now."""
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
