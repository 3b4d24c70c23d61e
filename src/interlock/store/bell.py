"""Waking those who wait for facts in this process."""

import asyncio


class Bell:
    """Everyone who waits is woken by the next ring.

    The waiters are kept in a list, not a set: they wake in the order they came, so that a simulation with the
    same seed stays the same.
    """

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Wake everyone who waits now."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_for_ring(self, seconds: float) -> bool:
        """True if the bell rang, False if the time is over."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            rang, _ = await asyncio.wait([waiter], timeout=seconds)
            return bool(rang)
        finally:
            self._waiting.remove(waiter)
