"""Values that attempts have leased: who holds which, and what is free.

Rules:
1. A task holds its values while a program of it may run: from the start of its agent until that has ended and
   its work is imported, and while its checks run. A person who takes the task away ends neither at once.
2. In between, in the lane or in review, it holds nothing. So it keeps none from others while it waits, and
   what it waits for cannot wait for it. Its values stay noted: it gets them again unless they were needed.
3. A value that another task takes is no longer noted for the first.
"""

from collections.abc import Collection, Iterable, Mapping

from interlock.events.alone import is_attempted
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.leases import Leasable, Leased, count_of, counts, offered
from interlock.model.task import PhaseKind, TaskId

Key = tuple[str, str]


def holds_values(task: TaskState) -> bool:
    """Tell if the values noted for a task are in use."""
    is_checked = task.stage is Stage.RUNNING and task.phase.kind is PhaseKind.CHECK
    return bool(task.session.leased) and (is_checked or is_attempted(task))


def held(state: State) -> dict[Key, TaskId]:
    """Return the tasks that hold values now."""
    tasks = (state.tasks[name] for name in sorted(state.index.leased))
    return {each.key: task.spec.id for task in tasks if holds_values(task) for each in task.session.leased}


def take(state: State, task: TaskState) -> set[TaskId]:
    """Note that a task has taken its values; return the tasks for which one of them was noted (rule 3)."""
    own = {each.key for each in task.session.leased}
    lost = {
        name
        for name in state.index.leased
        if (other := state.tasks[name]) is not task
        and not holds_values(other)
        and own & {each.key for each in other.session.leased}
    }
    for name in lost:
        state.tasks[name].session.leased = ()
    state.index.leased -= lost
    return lost


def can_hold(state: State, task: TaskState) -> bool:
    """Tell if there are enough values for the checks of a task now."""
    if not task.spec.leases or holds_values(task):
        return True
    taken = counts(name for name, _ in held(state))
    return all(
        taken[name] + wanted <= max(wanted, count_of(state.graph.leases, name))
        for name, wanted in counts(task.spec.leases).items()
    )


class Values:
    """The values that are still to be given, at one decision."""

    def __init__(self, state: State, in_use: Iterable[tuple[TaskId, Leased]] = ()) -> None:
        """`in_use`: values of programs that run and that State may not know of any more."""
        self._state = state
        self._taken: dict[Key, TaskId] = held(state) if state.index.leased else {}
        self._taken |= {each.key: name for name, each in in_use}
        self._noted = {each.key for name in state.index.leased for each in state.tasks[name].session.leased}

    def give(self, task: TaskState) -> tuple[Leased, ...] | None:
        """Give a task all that it uses, the same as before where that is free; None: something is missing."""
        name, wanted = task.spec.id, task.spec.leases
        before = {each.name: each for each in task.session.leased}
        given: list[Leased] = []
        for use in wanted:
            same = before.get(use)
            found = same if same and self._is_free(same, name, given) else self._free(use, name, given)
            if found is None and counts(wanted)[offered(use)] > self._offer(use).count:
                found = _shared(use, given)  # the graph has fewer by now
            if found is None:
                return None
            given.append(found)
        self._taken |= {each.key: name for each in given}
        return tuple(given)

    def lend(self, names: Collection[str]) -> tuple[Leased, ...] | None:
        """Give values for checks on main, for all these names. Two of them may share one where there are not
        enough. None: something has no free one."""
        given: list[Leased] = []
        for use in names:
            found = self._free(use, TaskId(""), given) or _shared(use, given)
            if found is None:
                return None
            given.append(found)
        self._taken |= {each.key: TaskId("") for each in given}
        return tuple(given)

    def _is_free(self, one: Leased, task: TaskId, given: Iterable[Leased]) -> bool:
        offer = self._offer(one.name)
        is_offered = offer.has(one.value)
        return is_offered and self._taken.get(one.key, task) == task and one.key not in _keys(given)

    def _free(self, use: str, task: TaskId, given: Iterable[Leased]) -> Leased | None:
        """Find the lowest free value; one that is noted for a task only if there is no other."""
        others = _keys(given) | {key for key, holder in self._taken.items() if holder != task}
        name, second = offered(use), None
        for value in self._offer(use).values():
            key = (name, value)
            if key in others:
                continue
            if key not in self._noted:
                return Leased(use, value)
            second = second or Leased(use, value)
        return second

    def _offer(self, use: str) -> Leasable:
        name = offered(use)
        return next((each for each in self._state.graph.leases if each.name == name), Leasable(name))


def _keys(given: Iterable[Leased]) -> set[Key]:
    return {each.key for each in given}


def _shared(use: str, given: Iterable[Leased]) -> Leased | None:
    same = (each.value for each in given if offered(each.name) == offered(use))
    value = next(same, None)
    return Leased(use, value) if value is not None else None


def wanted_by_checks(tasks: Iterable[TaskState], commands: Collection[str]) -> tuple[str, ...]:
    """Return what tasks with one of these checks use: on main the check sees the variables of all of them."""
    asked = set(commands)
    found: Mapping[str, None] = {
        name: None
        for task in tasks
        if not task.is_over and asked.intersection((*task.spec.verify, *task.spec.done_when))
        for name in task.spec.leases
    }
    return tuple(found)
