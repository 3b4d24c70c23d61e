"""Compares the files that tasks edited with those expected of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.events.state import TaskState
from interlock.model.forecast import Chance
from interlock.model.globs import matches
from interlock.model.task import TaskId

EXPECTED = 0.3
"""Least probability at which a path that the task does not declare counts as expected."""
LARGE = 0.7
FILES_LEAST = 3
"""The least unexpected files that are worth a message."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Forecast and fact, of one task or of several together."""

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

    @property
    def is_large(self) -> bool:
        """True if it is worth telling a person who did not ask."""
        return len(self.surprises) >= FILES_LEAST and self.recall is not None and self.recall < LARGE

    def __add__(self, other: "Drift") -> "Drift":
        return Drift(
            self.expected + other.expected,
            self.edited + other.edited,
            self.touched + other.touched,
            self.foreseen + other.foreseen,
            tuple(dict.fromkeys((*self.surprises, *other.surprises))),
            tuple(dict.fromkeys((*self.idle, *other.idle))),
        )


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


def drifts(tasks: Iterable[TaskState]) -> dict[TaskId, Drift]:
    found = ((task.spec.id, drift_of(task)) for task in tasks)
    return {name: drift for name, drift in found if drift}
