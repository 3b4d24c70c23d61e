"""How long a check may go on without hearing of its controller."""

import asyncio
import time

from interlock.model.errors import StaleEpoch
from interlock.verify.protocol import CheckOrder

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, as the database's clock does."""


class Lease:
    """The lease of one order."""

    def __init__(self, order: CheckOrder) -> None:
        self._name = order.name
        passed = asyncio.get_running_loop().time() - order.given_at
        self._ends = _now() + order.lease_seconds - passed if order.lease_seconds else 0.0

    def extend(self, seconds: float) -> bool:
        """It ends so long from now. An order without a lease gets none: False."""
        if self._ends:
            self._ends = _now() + seconds
        return bool(self._ends)

    def left(self) -> float:
        """What a command may have of it; 0 if there is no lease. `StaleEpoch` if it is over."""
        if not self._ends:
            return 0.0
        if (left := self._ends - _now()) <= 0:
            raise StaleEpoch(f"the check {self._name}: its lease was over before a command started")
        return left


def _now() -> float:
    return time.clock_gettime(_CLOCK)
