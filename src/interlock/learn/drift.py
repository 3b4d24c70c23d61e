"""Compares the files that tasks edited with those expected of them."""

from dataclasses import dataclass

from interlock.events.state import TaskState
from interlock.model.forecast import Chance
from interlock.model.globs import matches

EXPECTED = 0.3
"""Least probability at which a path that the task does not declare counts as expected."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Forecast and fact of one task."""

    expected: int = 0
    """Paths that were expected, and how many of them were edited."""
    edited: int = 0
    touched: int = 0
    """Files that were edited, and how many of them were expected or asked for."""
    foreseen: int = 0
    surprises: tuple[str, ...] = ()
    """Files that were not expected."""
    idle: tuple[str, ...] = ()
    """Paths that were expected and not edited."""

    @property
    def precision(self) -> float | None:
        """The share of the expected paths that were edited."""
        return self.edited / self.expected if self.expected else None

    @property
    def recall(self) -> float | None:
        """The share of the edited files that were expected."""
        return self.foreseen / self.touched if self.touched else None


def chances_of(task: TaskState) -> tuple[Chance, ...]:
    """Return the paths expected of a task; without a forecast, those it declares."""
    if task.forecast and task.forecast.footprint:
        return task.forecast.footprint
    declared = dict.fromkeys((*task.spec.touches, *task.spec.exclusive))
    return tuple(Chance(path, 1.0, "declared") for path in declared)


def expected_paths(task: TaskState) -> tuple[str, ...]:
    """List the paths where an edit is no surprise: the declared ones and the likely ones."""
    likely = (c.path for c in chances_of(task) if c.source == "declared" or c.probability >= EXPECTED)
    return tuple(dict.fromkeys((*likely, *task.spec.touches, *task.spec.exclusive)))


def drift_of(task: TaskState) -> Drift | None:
    likely = expected_paths(task)
    if task.change.work is None or not likely:
        return None
    touched = task.change.work.touched
    surprises = [
        path for path in touched if not any(matches(glob, path) for glob in (*likely, *task.session.scope))
    ]
    idle = [glob for glob in likely if not any(matches(glob, path) for path in touched)]
    return Drift(
        len(likely),
        len(likely) - len(idle),
        len(touched),
        len(touched) - len(surprises),
        tuple(surprises),
        tuple(idle),
    )
