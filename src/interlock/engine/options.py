"""How one run goes about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is told when it starts."""

    max_parallel: int = 3
    """How many agents may work at once, at most."""
    auto: bool = False
    """Below that the goodput brake of the clutch says how many may on each kind of work."""
    cold_start: int = 1
    """Then: how many on a kind of work without any history here."""
    clutch_per: str = "hour"
    """What it goes by: landed changes per `hour`, or per `dollar`."""
    limit_why: str = "the default"
    selection: tuple[TaskId, ...] | None = None
    """Work on these tasks only; None: all."""
    slots: Mapping[str, int] = field(default_factory=dict)
    """How many agents of a role may work at once; a role that is not named: as many as all together."""
    lane_depth: int = 1
    """How many changes may be checked at once, each on top of the one before."""
    environment: str = ""
    """A digest of what decides the result of a check besides the tree; empty: checks are not tried on main
    before agents start."""
    sandbox: str = ""
    """What agents and checks run in, for the record."""
    strict_scope: bool = False
    """An agent that asks is not given what another task is expected to edit."""
    controller_lease_seconds: float = 30.0
    """A controller that cannot renew for this long has lost its agents and may be replaced."""
    stale_seconds: float = 300.0
    """A task's claim that nobody renews for this long is free."""
    main_seconds: float = 2.0
    """How often to look whether somebody else moved main."""
    fetch_seconds: float = 60.0
    """How often to fetch the upstream; 0: never."""
