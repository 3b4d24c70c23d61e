"""The controller's lease as its own process keeps it (D4)."""

import pytest

from interlock.model.errors import StaleEpoch
from interlock.model.process import Lease


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_lease_is_counted_from_when_the_database_was_asked_and_is_over_without_a_renewal() -> None:
    clock = Clock()
    heard: list[float] = []
    lease = Lease(clock, heard.append)
    assert lease.left("a check") == 0.0, "none was taken: no controller is in charge"
    lease.renew(30.0, since=98.0)
    assert (lease.left("a check"), heard) == (28.0, [28.0])
    clock.now = 127.0
    lease.renew(30.0)
    assert (lease.left("a check"), heard) == (30.0, [28.0, 30.0])
    clock.now = 157.0
    with pytest.raises(StaleEpoch, match="a check"):
        lease.left("a check")
