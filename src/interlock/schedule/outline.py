"""The urgency of each task: the expected time from its start to the end of everything.

Rules:
1. Where no hard lease is wanted twice, that is the longest chain behind the task (`tails`).
2. Where tasks queue for leases, chains do not show which task delays which. So the run is simulated in the
      expected times (`passes`): forwards in order of urgency, and then backwards from its end, the task that
               ended last first. Its distance from the end is its new urgency: chains, queues and slots in one
   figure. The figures that made the shortest run are kept. (Project scheduling knows this as justification.)
3. The simulation covers all that was not over when the run began, and not what is left now. So the figures
   stay the same while tasks end, and depend on State alone.
4. Age counts from when a task was expected to be ready, not from when it is: a task that becomes ready early
      by plan is no older for that (`order`, rule 1).
5. No more than LARGEST tasks: in larger graphs it is chains again.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from interlock.events.state import State, TaskState
from interlock.model.task import Task, TaskId
from interlock.schedule.holds import Demand, DemandKind, Holds
from interlock.schedule.order import RATE
from interlock.schedule.passes import JobLayout, make_plan
from interlock.schedule.tails import Tails

LARGEST = 1_000
SLOTS_WITHOUT_RUN = 8
"""The number until a run gives one. Too many cost little; too few, more than all of this gains."""
NO_TASK = TaskId("")


class _Place(NamedTuple):
    """Position of one task in the plan."""

    urgency: float
    ready: float


class Outline:
    """The urgency of every task, kept up to date lazily."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._tails = Tails(state)
        self._planned: dict[TaskId, _Place] = {}
        """The planned places of tasks that queue for leases."""
        self._seen: dict[TaskId, _TaskPart] = {}
        self._setting: tuple[str, int] | None = None
        """The run and number of slots it was worked out for; None: it is out of date."""

    def seconds(self, task: TaskId) -> float:
        """Return the time from its start to the end of everything, as of the last `refresh`."""
        place = self._planned.get(task)
        return place.urgency if place else self._tails.seconds(task)

    def weight(self, task: TaskId) -> float:
        """Return the seconds that decide its place in the order: urgency, plus the age planned for it."""
        place = self._planned.get(task)
        return place.urgency + RATE * place.ready if place else self._tails.seconds(task)

    @property
    def has_queues(self) -> bool:
        """Tell if tasks queue for leases, so that more than chains is behind a task."""
        return bool(self._planned)

    def note(self, task: TaskId) -> None:
        """Something about the task changed."""
        self._tails.note(task)
        known = self._state.tasks[task]
        part = _TaskPart(known.spec, known.expected_seconds, _is_in_play(self._state, known))
        before = self._seen.get(task)
        if before is None or before.spec is not part.spec or before[1:] != part[1:]:
            self._seen[task] = part
            self._setting = None

    def forget(self, task: TaskId) -> None:
        """The task was done long ago, and is no longer in `State.tasks`."""
        self._tails.forget(task)
        if self._seen.pop(task, None):
            self._setting = None

    def refresh(self) -> Iterable[TaskId]:
        """Bring everything up to date; of which tasks the urgency changed."""
        changed = set(self._tails.refresh())
        setting = _setting(self._state)
        if setting != self._setting:
            before, self._setting = self._planned, setting
            self._planned = self._work_out(setting[1])
            both = before.keys() | self._planned.keys()
            changed |= {name for name in both if before.get(name) != self._planned.get(name)}
        return changed

    def _work_out(self, slots: int) -> dict[TaskId, _Place]:
        tasks = [task for task in self._state.tasks.values() if _is_in_play(self._state, task)]
        names = [task.spec.id for task in tasks]
        tails = list(map(self._tails.seconds, names))
        # On a circle nothing ever starts; the rest of a new graph will soon arrive.
        if not 1 < len(tasks) <= LARGEST or math.inf in tails:
            return {}
        layout = _layout(tasks)
        if not layout.leases:
            return {}
        return dict(zip(names, map(_Place, *make_plan(layout, slots, tails)), strict=True))


class _TaskPart(NamedTuple):
    """All that matters here of a task."""

    spec: Task
    seconds: float
    is_in_play: bool


def _setting(state: State) -> tuple[str, int]:
    """Return the run, and the number of agents that may work at once."""
    return (state.run.run, max(1, state.run.limit)) if state.run else ("", SLOTS_WITHOUT_RUN)


def _is_in_play(state: State, task: TaskState) -> bool:
    """Tell if it was not over when the run began (rule 3)."""
    if not state.is_selected(task.spec.id):
        return False
    return not task.is_over or (state.run is not None and task.since > state.run.started)


def _layout(tasks: Sequence[TaskState]) -> JobLayout:
    number = {task.spec.id: at for at, task in enumerate(tasks)}
    needs = [[number[need] for need in task.spec.needs if need in number] for task in tasks]
    needed_by: list[list[int]] = [[] for _ in tasks]
    for job, wanted in enumerate(needs):
        for need in wanted:
            needed_by[need].append(job)
    takes: list[list[int]] = [[] for _ in tasks]
    shares: list[list[int]] = [[] for _ in tasks]
    queues = _queues([task.spec for task in tasks])
    for lease, (want, users) in enumerate(queues):
        for name in users:
            spec = tasks[number[name]].spec
            alone = want[0] is DemandKind.USE or want[1] in spec.exclusive
            (takes if alone else shares)[number[name]].append(lease)
    seconds = [task.expected_seconds for task in tasks]
    return JobLayout(seconds, needs, needed_by, takes, shares, len(queues))


def _queues(specs: Sequence[Task]) -> list[tuple[Demand, list[TaskId]]]:
    """Hard leases that several tasks want, and who they are."""
    every_task = Holds()
    for spec in specs:
        every_task.take(spec.id, _wanted(spec))
    hard = dict.fromkeys(
        want for spec in specs for want in _wanted(spec) if want[0] in (DemandKind.USE, DemandKind.EXCLUSIVE)
    )
    users = ((want, sorted(every_task.hard(want, NO_TASK) or ())) for want in hard)
    return [(want, names) for want, names in users if len(names) > 1]


def _wanted(spec: Task) -> list[Demand]:
    return [
        *((DemandKind.USE, name) for name in spec.uses),
        *((DemandKind.EXCLUSIVE, glob) for glob in spec.exclusive),
        *((DemandKind.SHARED, glob) for glob in spec.shared),
        *((DemandKind.TOUCH, glob) for glob in spec.touches),
    ]
