"""Select the tasks that `--only`, `--from`, `--story` and the like name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from interlock.model.errors import UsageError
from interlock.model.nearest import find_task, suggest
from interlock.model.task import Task, TaskId
from interlock.plan.problem import printable

PRIORITIES = ("critical", "high", "normal", "low", "lowest")
"""The names of the tiers, from 0."""
LISTING = "`interlock plan` lists all tasks"


@dataclass(frozen=True, slots=True)
class Filter:
    """All that is given must hold; of several values for one thing, any."""

    only: tuple[str, ...] = ()
    """Exactly these tasks."""
    start_from: tuple[str, ...] = ()
    """These, and everything that needs them, however indirectly."""
    story: tuple[str, ...] = ()
    priority: tuple[str, ...] = ()
    """Tiers, by number or name."""
    label: tuple[str, ...] = ()
    subsystem: tuple[str, ...] = ()
    category: tuple[str, ...] = ()


def select(tasks: Sequence[Task], wanted: Filter) -> tuple[TaskId, ...]:
    """The tasks that pass, in their order. A value that no task has is an error, and not an empty answer."""
    ids = [task.id for task in tasks]
    left = set(ids)
    if wanted.only:
        left &= {find_task(word, ids, LISTING) for word in wanted.only}
    if wanted.start_from:
        left &= _downstream(tasks, {find_task(word, ids, LISTING) for word in wanted.start_from})
    tiers = tuple(_tier(word) for word in wanted.priority)
    chosen: tuple[tuple[str, tuple[str, ...], Callable[[Task], Iterable[str]]], ...] = (
        ("story", wanted.story, lambda task: (task.story,)),
        ("priority", tiers, lambda task: (PRIORITIES[task.priority],)),
        ("label", wanted.label, lambda task: task.labels),
        ("subsystem", wanted.subsystem, lambda task: (task.subsystem,)),
        ("category", wanted.category, lambda task: (task.category,)),
    )
    for name, values, of in chosen:
        if values:
            left &= _with(tasks, name, values, of)
    return tuple(id for id in ids if id in left)


def _downstream(tasks: Sequence[Task], start: set[TaskId]) -> set[TaskId]:
    needed_by: dict[TaskId, list[TaskId]] = {}
    for task in tasks:
        for need in task.needs:
            needed_by.setdefault(need, []).append(task.id)
    found, left = set(start), list(start)
    while left:
        fresh = [id for id in needed_by.get(left.pop(), ()) if id not in found]
        found.update(fresh)
        left.extend(fresh)
    return found


def _tier(word: str) -> str:
    tiers = {str(number): name for number, name in enumerate(PRIORITIES)}
    if word in PRIORITIES:
        return word
    if word in tiers:
        return tiers[word]
    hint = suggest(word, PRIORITIES, f"write 0 to 4, or {', '.join(PRIORITIES)}")
    raise UsageError(f"there is no priority `{printable(word)}`", hint)


def _with(
    tasks: Sequence[Task], name: str, values: tuple[str, ...], of: Callable[[Task], Iterable[str]]
) -> set[TaskId]:
    known = {value for task in tasks for value in of(task) if value}
    for value in values:
        if value not in known:
            listed = ", ".join(sorted(known)[:10]) or "none"
            hint = suggest(value, known, f"the graph has: {listed}")
            raise UsageError(f"no task has the {name} `{printable(value)}`", hint)
    return {task.id for task in tasks if not set(values).isdisjoint(of(task))}
