"""The decision to start a task whose footprint overlaps that of one under way, rather than idle a slot.

Rules:
1. It starts if P(conflict) x rework <= theta. Rework is what a conflict costs, in units of the time that the
      task takes: the loser makes its change again, and that may be the longer one.
2. P and rework are counted from the log (`learned.overlaps`) in that kind of work, drawn towards all work,
   drawn towards a guess.
3. P is taken at the lower end of what the counts allow. What is never tried is never learned, and one
   conflict by chance would stop all overlaps for ever.
4. When the other one will be out of the way hardly counts: others want the same path, and by then one of them
   has it. Going by the expected wait was the costliest of all rules tried (docs/why/overlaps.md). Only what
   is nearly over, beside the rework at stake, is waited for.
"""

import math
from dataclasses import dataclass

from interlock.events.lifecycle import Stage
from interlock.events.overlaps import Regime
from interlock.events.state import State, TaskState
from interlock.model.forecast import Beside
from interlock.model.reason import Reason, Why
from interlock.model.task import PhaseKind, TaskId
from interlock.schedule.footprint import held_paths, shared_paths
from interlock.schedule.holds import DemandKind, Holds

THETA = 0.55
"""The share of its time that an idle slot may be expected to waste. Slightly more than half: what a clean
overlap gains is gained at once, what a conflict costs may fall into a gap (`python -m bench schedule`)."""

NEARLY_OVER = 0.1
"""A wait of this share of the expected rework is short."""

CHECK_SHARE = 0.25
"""Share of its estimate that a finished change is expected to need until it has landed."""

FIRST_CONFLICTS = 2.0
FIRST_EXPOSURE = FIRST_CONFLICTS / math.log(2)
"""The guess to begin with, as if two conflicts had been seen: of changes with one path in common, half do."""
FIRST_REDONE = 2.0
"""The guess for rework, as if two had been seen: it takes as long as the first time."""
POOLED = 4.0
"""The number of overlaps in other work that say as much as all of them together about one kind of work."""
CAUTION = 1.0
"""The rate of conflicts is taken this many standard deviations below the mean."""

SECOND_CHOICES = 8
"""The number of overlapping tasks that one decision looks at, best first; a bound on its work."""


@dataclass(frozen=True, slots=True)
class OverlapOutlook:
    """The expected conflicts and rework of overlaps in one kind of work."""

    rate: float
    """Conflicts for each path in common."""
    rework: float
    overlaps: float
    """The number of overlaps that this was learned from, older ones counting less."""


@dataclass(frozen=True, slots=True)
class Venture:
    """A task that could start although it overlaps."""

    beside: tuple[Beside, ...]
    conflict: float
    """Its probability."""
    outlook: OverlapOutlook
    seconds: float
    wait_seconds: float
    """Until all of them are expected to be out of the way."""

    @property
    def rework(self) -> float:
        """Expected, in units of the task's own time."""
        return self.conflict * self.outlook.rework

    @property
    def is_worth_it(self) -> bool:
        """Tell if the expected rework is small enough, and the alternative no short wait."""
        return self.rework <= THETA and self.wait_seconds > NEARLY_OVER * self.rework * self.seconds

    @property
    def why(self) -> Reason:
        return Reason(
            Why.CHEAP_OVERLAP,
            {
                "tasks": tuple(each.task for each in self.beside),
                "rework_seconds": self.rework * self.seconds,
                "seconds": self.seconds,
                "conflict": self.conflict,
                "rework": self.outlook.rework,
                "theta": THETA,
                "overlaps": round(self.outlook.overlaps),
            },
        )


def venture(state: State, holds: Holds, task: TaskState, now: float) -> Venture:
    found = outlook(state, task.category)
    beside = tuple(
        Beside(name, shared_paths(task, state.tasks[name])) for name in sorted(overlapped(holds, task))
    )
    conflict = 1 - math.exp(-found.rate * sum(each.paths for each in beside))
    wait = max((_remaining_seconds(state.tasks[each.task], now) for each in beside), default=0.0)
    return Venture(beside, conflict, found, task.expected_seconds, wait)


def overlapped(holds: Holds, task: TaskState) -> set[TaskId]:
    return {
        name for path in held_paths(task) for name in holds.soft((DemandKind.TOUCH, path), task.spec.id) or ()
    }


def _remaining_seconds(task: TaskState, now: float) -> float:
    checks = task.expected_seconds * CHECK_SHARE
    if task.phase.kind is not PhaseKind.AGENT:
        return checks
    started = task.since if task.stage is Stage.RUNNING else now
    return max(0.0, started + task.expected_seconds - now) + checks


def outlook(state: State, kind: str) -> OverlapOutlook:
    regimes = state.learned.overlaps.regimes
    every, this = _total(list(regimes.values())), regimes.get(kind, Regime())
    share = POOLED / max(POOLED, every.overlaps)
    conflicts = FIRST_CONFLICTS + this.conflicts + share * (every.conflicts - this.conflicts)
    exposure = FIRST_EXPOSURE + this.exposure + share * (every.exposure - this.exposure)
    redone = FIRST_REDONE + this.redone + share * (every.redone - this.redone)
    rework = math.exp((this.rework + share * (every.rework - this.rework)) / redone)
    rate = (conflicts - CAUTION * math.sqrt(conflicts)) / exposure
    return OverlapOutlook(rate, rework, this.overlaps + share * (every.overlaps - this.overlaps))


def _total(regimes: list[Regime]) -> Regime:
    return Regime(
        sum(each.overlaps for each in regimes),
        sum(each.conflicts for each in regimes),
        sum(each.exposure for each in regimes),
        sum(each.redone for each in regimes),
        sum(each.rework for each in regimes),
    )
