"""How the work would go: list scheduling with the scheduler's rules, in the time that the estimates say.

Rules:
1. The longest way to the end goes first; critical tasks before all others; then priority, then the order of
   the file.
2. `exclusive`, `shared` and `uses` are kept; `touches` only against `exclusive`: a soft overlap leaves no
   slot idle.
3. A task that is blocked waits at the thing that blocks it, and only the first in that queue is looked at
   when it is free again. So thousands of tasks that use one thing cost no more than thousands that do not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from interlock.model.task import CRITICAL, Task
from interlock.plan.glob_index import GlobIndex
from interlock.plan.network import Network


@dataclass(frozen=True, slots=True)
class Timeline:
    """When each task starts, by its number, and when the last one ends."""

    starts: Sequence[float]
    end: float


def simulate(network: Network, index: GlobIndex, slots: int, seconds: Sequence[float]) -> Timeline:
    """Run all tasks, each for as long as `seconds` says."""
    return _Simulation(network, index, slots, seconds).run()


def ranks(network: Network) -> list[int]:
    """For each task, its place in the queue if all could start now."""

    def urgency(i: int) -> tuple[bool, float, int, int]:
        task = network.tasks[i]
        return task.priority != CRITICAL, -network.tails[i], task.priority, i

    queue = sorted(range(len(network.tasks)), key=urgency)
    places = [0] * len(queue)
    for place, i in enumerate(queue):
        places[i] = place
    return places


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
        self._ranks = ranks(network)
        self._unmet = [len(needs) for needs in network.needs]
        self._ready: list[tuple[int, int, str]] = []
        """Rank, task, and the queue it comes from."""
        self._queues: dict[str, list[tuple[int, int]]] = {}
        self._running: list[tuple[float, int]] = []
        self._starts = [-1.0] * len(network.tasks)

    def run(self) -> Timeline:
        now = 0.0
        for i, unmet in enumerate(self._unmet):
            if not unmet:
                heappush(self._ready, (self._ranks[i], i, ""))
        self._start(now)
        while self._running:
            now = self._running[0][0]
            while self._running and self._running[0][0] <= now:
                self._end(heappop(self._running)[1])
            self._start(now)
        return Timeline(self._starts, now)

    def _start(self, now: float) -> None:
        while self._ready and len(self._running) < self._slots:
            rank, i, origin = heappop(self._ready)
            task = self._network.tasks[i]
            blocker = self._leases.blocked_by(task)
            if blocker:
                heappush(self._queues.setdefault(blocker, []), (rank, i))
            else:
                self._leases.take(task)
                self._starts[i] = now
                heappush(self._running, (now + self._seconds[i], i))
            self._call_next(origin)

    def _end(self, i: int) -> None:
        for key in self._leases.give_back(self._network.tasks[i]):
            self._call_next(key)
        for other in self._network.needed_by[i]:
            self._unmet[other] -= 1
            if not self._unmet[other]:
                heappush(self._ready, (self._ranks[other], other, ""))

    def _call_next(self, key: str) -> None:
        """If the thing is free, let the first that waits for it try again."""
        if self._queues.get(key) and not self._leases.is_held(key):
            rank, i = heappop(self._queues[key])
            heappush(self._ready, (rank, i, key))
