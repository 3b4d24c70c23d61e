"""How the work would go: list scheduling with the scheduler's rules, in the time that the estimates say.

Rules:
1. Critical tasks go first; then the longest way to the end, where a step of priority and the time a task has
   been ready count as so many seconds. The figures are those of `schedule.order`; a test compares them.
2. `exclusive`, `shared` and `uses` are kept; `touches` only against `exclusive`: a soft overlap leaves no
   slot idle.
3. A task that is blocked waits at the thing that blocks it, and only the first in that queue is looked at
   when it is free again. So thousands of tasks that use one thing cost no more than thousands that do not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from interlock.model.task import CRITICAL, NORMAL, Task
from interlock.plan.glob_index import GlobIndex
from interlock.plan.network import Network

RATE = 0.1
BONUS_SECONDS = 1_800.0

_Key = tuple[bool, float, int]
"""Sorts before others: starts before others. Ends in the number of the task."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """When each task starts, by its number, and when the last one ends."""

    starts: Sequence[float]
    end: float


def simulate(network: Network, index: GlobIndex, slots: int, seconds: Sequence[float]) -> Timeline:
    """Run all tasks, each for as long as `seconds` says."""
    return _Simulation(network, index, slots, seconds).run()


class _Leases:
    """What running tasks hold."""

    def __init__(self, index: GlobIndex) -> None:
        self._index = index
        self._held: Counter[str] = Counter()

    def is_held(self, key: str) -> bool:
        return self._held[key] > 0

    def blocked_by(self, task: Task) -> str:
        """The first thing held that it cannot do without, or nothing."""
        wanted = [f"use:{name}" for name in task.uses]
        wanted += [f"any:{near}" for glob in task.exclusive for near in self._index.near(glob)]
        wanted += [f"own:{near}" for glob in (*task.touches, *task.shared) for near in self._index.near(glob)]
        return next((key for key in wanted if self._held[key]), "")

    def take(self, task: Task) -> None:
        self._held.update(self._keys(task))

    def give_back(self, task: Task) -> list[str]:
        """Free what it held; what nobody holds any more."""
        keys = self._keys(task)
        self._held.subtract(keys)
        return [key for key in dict.fromkeys(keys) if not self._held[key]]

    def _keys(self, task: Task) -> list[str]:
        keys = [f"use:{name}" for name in task.uses]
        keys += [f"own:{glob}" for glob in task.exclusive]
        return keys + [f"any:{glob}" for glob in (*task.touches, *task.exclusive, *task.shared)]


class _Simulation:
    def __init__(self, network: Network, index: GlobIndex, slots: int, seconds: Sequence[float]) -> None:
        self._network, self._slots, self._seconds = network, slots, seconds
        self._leases = _Leases(index)
        self._unmet = [len(needs) for needs in network.needs]
        self._ready: list[tuple[_Key, str]] = []
        """Each with the queue it comes from."""
        self._queues: dict[str, list[_Key]] = {}
        self._running: list[tuple[float, int]] = []
        self._starts = [-1.0] * len(network.tasks)

    def run(self) -> Timeline:
        now = 0.0
        for i, unmet in enumerate(self._unmet):
            if not unmet:
                self._make_ready(i, now)
        self._start(now)
        while self._running:
            now = self._running[0][0]
            while self._running and self._running[0][0] <= now:
                self._end(heappop(self._running)[1], now)
            self._start(now)
        return Timeline(self._starts, now)

    def _make_ready(self, i: int, now: float) -> None:
        task = self._network.tasks[i]
        score = self._network.tails[i] + BONUS_SECONDS * (NORMAL - task.priority)
        heappush(self._ready, ((task.priority != CRITICAL, RATE * now - score, i), ""))

    def _start(self, now: float) -> None:
        while self._ready and len(self._running) < self._slots:
            key, origin = heappop(self._ready)
            i = key[-1]
            task = self._network.tasks[i]
            blocker = self._leases.blocked_by(task)
            if blocker:
                heappush(self._queues.setdefault(blocker, []), key)
            else:
                self._leases.take(task)
                self._starts[i] = now
                heappush(self._running, (now + self._seconds[i], i))
            self._call_next(origin)

    def _end(self, i: int, now: float) -> None:
        for thing in self._leases.give_back(self._network.tasks[i]):
            self._call_next(thing)
        for other in self._network.needed_by[i]:
            self._unmet[other] -= 1
            if not self._unmet[other]:
                self._make_ready(other, now)

    def _call_next(self, thing: str) -> None:
        """If it is free, let the first that waits for it try again."""
        if self._queues.get(thing) and not self._leases.is_held(thing):
            heappush(self._ready, (heappop(self._queues[thing]), thing))
