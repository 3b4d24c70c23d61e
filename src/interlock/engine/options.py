"""Options of one run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.model.budget import Budget
from interlock.model.reason import Reason
from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class Options:
    """Values that a run gets when it starts."""

    max_parallel: int = 3
    """The most agents that may work at once."""
    auto: bool = False
    """Below that the goodput brake of the clutch says how many may on each kind of work."""
    cold_start: int = 1
    """Then: how many on a kind of work without any history here."""
    limit_why: Reason | None = None
    """The origin of that number."""
    selection: tuple[TaskId, ...] | None = None
    """Work on these tasks only; None: all."""
    slots: Mapping[str, int] = field(default_factory=dict)
    """The most agents of each role at once; a role that is not named may have all."""
    lane_depth: int = 1
    """The most changes that are tested at once, on main or in builds."""
    environment: str = ""
    """A digest of what decides the result of a check besides the tree; empty: checks are not tried on main
    before agents start."""
    radar: str = ""
    """The answer to overlaps of running work, for the record; empty: none."""
    on_red_main: str = "judge"
    """The rule for a main that another hand made red: `freeze`, `revert` or `judge`."""
    joint: bool = False
    """Changes that passed together may land as one merge."""
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    """Limits on what agents may use, by `Budgeted`."""
    sandbox: str = ""
    """The sandbox of agents and checks, for the record."""
    controller_lease_seconds: float = 30.0
    """A controller that cannot renew for this long has lost its agents and may be replaced."""
    stale_seconds: float = 300.0
    """A task's claim that is not renewed for this long is free."""
    main_seconds: float = 2.0
    """Interval at which to look for moves of main by others."""
    fetch_seconds: float = 60.0
    """Interval at which to fetch the upstream; 0: never."""
