"""The controller's lease as its own process keeps it: one clock for all agents and checks of a run."""

from collections.abc import Callable

from interlock.model.errors import StaleEpoch


class Lease:
    """The time for which this process is sure to be in charge. Its agents and checks end before that."""

    def __init__(self, clock: Callable[[], float], renewed: Callable[[float], None] = lambda _: None) -> None:
        """`clock` goes on while the machine sleeps. `renewed` hears the seconds from now on."""
        self.now = clock
        self._renewed = renewed
        self._ends: float | None = None

    def renew(self, seconds: float, since: float | None = None) -> None:
        """Let it end so long after `since`, when the database was asked; without that, from now on."""
        now = self.now()
        self._ends = (now if since is None else since) + seconds
        self._renewed(self._ends - now)

    def left(self, what: str) -> float:
        """Return the seconds that are left; 0 if no lease was ever taken. `StaleEpoch` if it is over."""
        if self._ends is None:
            return 0.0
        if (left := self._ends - self.now()) <= 0:
            raise StaleEpoch(f"{what}: its lease was over before it started")
        return left
