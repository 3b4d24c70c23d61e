"""Claims with epochs: the right to act on a resource, and the incarnation that holds it."""

from dataclasses import dataclass

from interlock.model.numbers import MOST

CONTROLLER = "controller"
"""The resource that the one loop of a project holds."""
CLOCK_SECONDS = 60
"""A database's clock that is off by more was set, and a lease that was kept on it tells nothing."""

LAST_EPOCH = MOST
"""More claims than there ever are. A higher one comes from a damaged file, and may fit no column."""


def task_resource(task: str) -> str:
    return f"task:{task}"


def slot_resource(slot: int) -> str:
    """Return the resource of a slot for builds."""
    return f"build:{slot}"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to act on a resource, until another holder raises its epoch."""

    resource: str
    epoch: int
    holder: str
    """An incarnation: name and fresh uuid of one process start. A dead one never revives."""
    generation: int = 0
    """The controller epoch under which it was taken; a newer controller may take it over at once."""


@dataclass(frozen=True, slots=True)
class Held:
    """A row of the claim table as others see it."""

    claim: Claim
    expires_in_seconds: float
    """Rest of the lease, by the database's clock; negative once it has run out."""
    note: str = ""
    """The holder's last heartbeat message."""
    renewed_seconds_ago: float = 0.0

    @property
    def lease_seconds(self) -> float:
        return self.expires_in_seconds + self.renewed_seconds_ago

    @property
    def clock_was_set(self) -> bool:
        """True if the database's clock is before the renewal of the lease, or long after its end."""
        return self.renewed_seconds_ago < -CLOCK_SECONDS or self.expires_in_seconds < -CLOCK_SECONDS


def described(incarnation: str) -> str:
    """Describe for people where an incarnation runs (`engine.identity` makes them)."""
    parts = incarnation.split("/")
    return f"process {parts[3]} on {parts[0].partition('~')[0]}" if len(parts) == 6 else incarnation
