"""Analysis of a graph before anything runs: order, critical path, conflicts, waves and expected time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from interlock.model.leases import Leasable, offered
from interlock.model.reason import Reason, Why
from interlock.model.task import Task, TaskId
from interlock.plan.conflicts import Conflicts, find_conflicts
from interlock.plan.glob_index import GlobIndex
from interlock.plan.network import Network, needs_first
from interlock.plan.simulate import Wants, simulate


@dataclass(frozen=True, slots=True)
class Standing:
    """The tasks that are over, and the selection to run."""

    done: Collection[TaskId] = frozenset()
    given_up: Collection[TaskId] = frozenset()
    """Failed or cancelled."""
    selected: Collection[TaskId] | None = None
    """None: all."""


NOTHING_KNOWN = Standing()


@dataclass(frozen=True, slots=True)
class Analysis:
    """The tasks that are selected and not done: each is in a wave, or unscheduled with its reason."""

    order: tuple[TaskId, ...]
    """Needs come first."""
    critical_path: tuple[TaskId, ...]
    critical_seconds: float
    work_seconds: float
    tails: Mapping[TaskId, float]
    """Seconds from the start of a task to the end of the longest path behind it."""
    conflicts: Conflicts
    waves: tuple[tuple[TaskId, ...], ...]
    """A view: no wave waits for another when the tasks really run."""
    unscheduled: Mapping[TaskId, Reason]
    lower_bound_seconds: float
    """No schedule of these tasks on this many slots can be faster."""
    makespan_seconds: float
    """Expected, if the estimates are right and nothing fails."""

    @property
    def may_proceed(self) -> bool:
        return not self.unscheduled


def analyse(
    tasks: Sequence[Task],
    max_parallel: int,
    standing: Standing = NOTHING_KNOWN,
    leases: Sequence[Leasable] = (),
) -> Analysis:
    ordered, circular = needs_first(tasks)
    unscheduled = _unscheduled(ordered, circular, standing)
    chosen = set(standing.selected) if standing.selected is not None else {task.id for task in tasks}
    todo = [task for task in ordered if task.id in chosen and task.id not in unscheduled]
    network = Network([task for task in todo if task.id not in standing.done])
    index = GlobIndex(
        glob for task in network.tasks for glob in (*task.touches, *task.exclusive, *task.shared)
    )
    wants = Wants(network, index, leases)
    path = network.critical_path()
    return Analysis(
        order=_ids(network, range(len(network.tasks))),
        critical_path=_ids(network, path),
        critical_seconds=network.tails[path[0]] if path else 0.0,
        work_seconds=sum(network.seconds),
        tails={task.id: tail for task, tail in zip(network.tasks, network.tails, strict=True)},
        conflicts=find_conflicts(network, index, [each.name for each in leases if each.count == 1]),
        waves=_waves(wants, max_parallel),
        unscheduled={id: reason for id, reason in unscheduled.items() if id in chosen},
        lower_bound_seconds=_lower_bound(network, max_parallel, leases),
        makespan_seconds=simulate(wants, max_parallel, network.seconds).end,
    )


def _ids(network: Network, numbers: Sequence[int]) -> tuple[TaskId, ...]:
    return tuple(network.tasks[i].id for i in numbers)


def _waves(wants: Wants, slots: int) -> tuple[tuple[TaskId, ...], ...]:
    """Return the waves: all tasks that start together if every task takes the same time."""
    tasks = wants.network.tasks
    timeline = simulate(wants, slots, [1.0] * len(tasks))
    waves: list[list[TaskId]] = [[] for _ in range(int(timeline.end))]
    for task, start in zip(tasks, timeline.starts, strict=True):
        waves[int(start)].append(task.id)
    return tuple(map(tuple, waves))


def _lower_bound(network: Network, slots: int, leases: Sequence[Leasable]) -> float:
    """The longest path; the work shared by all slots; for each thing used, its users one after the other, or
    as many at once as there are of it."""
    users: dict[str, list[int]] = {}
    for i, task in enumerate(network.tasks):
        for name in (*task.uses, *(f"lease:{offered(name)}" for name in task.leases)):
            users.setdefault(name, []).append(i)
    places = {f"lease:{each.name}": each.count for each in leases}
    heads, tails, seconds = network.heads, network.tails, network.seconds
    queues = [
        min(heads[i] for i in each)
        + sum(seconds[i] for i in each) / places.get(name, 1)
        + min(tails[i] - seconds[i] for i in each)
        for name, each in users.items()
    ]
    return max([sum(seconds) / slots, *queues, *tails[:1], max(tails, default=0.0)])


def _unscheduled(
    ordered: Sequence[Task], circular: Sequence[Task], standing: Standing
) -> dict[TaskId, Reason]:
    """The reason for each task that cannot run, in the order of needs."""
    known = {task.id for task in (*ordered, *circular)}
    fine = known if standing.selected is None else known.intersection(standing.selected)
    fine = fine.difference(standing.given_up).union(standing.done)
    found: dict[TaskId, Reason] = {}
    for task in ordered:
        if task.id in standing.done:
            continue
        if task.id in standing.given_up:
            found[task.id] = Reason(Why.GIVEN_UP)
            continue
        if fine.issuperset(task.needs) and found.keys().isdisjoint(task.needs):
            continue  # nearly always, and seen at once; what follows finds the reason
        blocks = (_block(need, known, found, standing) for need in task.needs if need not in standing.done)
        if reason := next(filter(None, blocks), None):
            found[task.id] = reason
    for task in circular:
        if task.id not in standing.done:
            found[task.id] = Reason(Why.CYCLE, {"tasks": task.needs})
    return found


def _block(
    need: TaskId, known: Collection[TaskId], found: Mapping[TaskId, Reason], standing: Standing
) -> Reason | None:
    if need not in known:
        return Reason(Why.NEED_MISSING, {"tasks": (need,)})
    if need in standing.given_up:
        return Reason(Why.NEED_GIVEN_UP, {"tasks": (need,)})
    if standing.selected is not None and need not in standing.selected:
        return Reason(Why.NEED_NOT_SELECTED, {"tasks": (need,)})
    if need in found:
        return Reason(Why.NEED_BLOCKED, {"tasks": (need,), "cause": found[need].cause or found[need]})
    return None
