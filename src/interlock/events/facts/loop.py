"""Facts about the loop itself."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact
from interlock.model.budget import Budget
from interlock.model.reason import Reason
from interlock.model.task import Commit, TaskId, Tree


@dataclass(frozen=True, slots=True)
class RunStarted(Fact):
    """A loop became the controller of this project."""

    run: str
    holder: str
    generation: int
    max_parallel: int
    selection: tuple[TaskId, ...] | None = None
    """The tasks to run; None: all."""
    sandbox: str = ""
    """The sandbox of its agents and checks; `none`: a person turned it off."""
    slots: dict[str, int] | None = None
    """The most agents of each role at once, where that is less than all together."""
    lane_depth: int = 1
    """The most changes that are tested at once, on main or in builds."""
    environment: str = ""
    """A digest of what decides the result of a check besides the tree; empty: checks are not tried on main
    before agents start."""
    radar: str = ""
    """The answer to overlaps of running work; empty: they are not looked for."""
    on_red_main: str = "judge"
    """`freeze`: only a fix or a revert lands on a main that another hand made red; `revert`: such a commit is
    also reverted; `judge`: changes are judged by what they add to it."""
    joint: bool = False
    """Changes that passed together may land as one merge."""
    budgets: dict[str, Budget] | None = None
    """Limits on what agents may use, for an `attempt`, a `task`, the `run`, the `day` and the `project`."""


@dataclass(frozen=True, slots=True)
class RunEnded(Fact):
    """The loop came to rest, or was stopped."""

    run: str
    why: Reason | None


@dataclass(frozen=True, slots=True)
class MainSeen(Fact):
    """The protected branch was found at this commit."""

    branch: str
    commit: Commit
    tree: Tree
    why: Reason | None = None


@dataclass(frozen=True, slots=True)
class StatementsDelayed(Fact):
    """Landed commits have no statement yet, as it could not be written; it is tried again."""

    commits: int
    """0: all have one again."""
    why: Reason | None = None


@dataclass(frozen=True, slots=True)
class SetupBuilt(Fact):
    """The graph's `setup` was carried out for a tree: dependencies were installed, or could not be."""

    digest: str
    """Digest of its commands, its key files and the environment: names the result."""
    tree: Tree
    ok: bool
    seconds: float = 0.0
    run: tuple[str, ...] = ()
    tail: str = ""
    """The end of the output, where it failed."""


@dataclass(frozen=True, slots=True)
class StateMoved(Fact):
    """The state folder of an older version was moved to where it is now kept."""

    former: str
    now: str
