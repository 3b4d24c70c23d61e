"""The paths that a task will probably edit, and the chance of an overlap with another's.

Rules:
1. What the definition declares, and what its agent was granted, is certain; a forecast adds what it expects.
2. Only what is likely enough is held (`held_paths`): a footprint of everything that may happen would overlap
      with every other, and then no task could be preferred to another.
"""

from collections.abc import Iterable

from interlock.events.state import TaskState
from interlock.model.forecast import Chance
from interlock.model.globs import overlap

LIKELY = 0.3
"""Least probability at which a path that was only forecast is held like a declared one."""


def footprint_of(task: TaskState) -> tuple[Chance, ...]:
    """Every path it may edit, with its probability; each path once, the surest first."""
    forecast = task.forecast.footprint if task.forecast else ()
    if not forecast and not task.session.scope:
        return tuple(Chance(path, 1.0, "declared") for path in task.spec.touches)
    chances = {chance.path: chance for chance in forecast}
    for path in task.spec.touches:
        chances.setdefault(path, Chance(path, 1.0, "declared"))
    for path in task.session.scope:
        chances[path] = Chance(path, 1.0, "granted")
    return tuple(sorted(chances.values(), key=lambda chance: -chance.probability))


def held_paths(task: TaskState) -> Iterable[str]:
    """The paths that it keeps others away from, as far as they can choose."""
    if task.forecast is None and not task.session.scope:
        return task.spec.touches
    declared = set(task.spec.touches)
    return [c.path for c in footprint_of(task) if c.path in declared or c.probability >= LIKELY]


def shared_paths(one: TaskState, other: TaskState) -> float:
    """Return the expected number of paths of `one` that the other edits too."""
    mine, theirs = footprint_of(one), footprint_of(other)
    return sum(
        own.probability
        * max((other.probability for other in theirs if overlap(own.path, other.path)), default=0.0)
        for own in mine
    )
