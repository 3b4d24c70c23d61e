"""A simulation of the work: list scheduling by the scheduler's rules, with the estimated times.

Rules:
1. Critical tasks go first; then the longest way to the end, where a step of priority and the time a task has
   been ready count as so many seconds. The figures are those of `schedule.order`; a test compares them.
2. `exclusive`, `shared`, `uses` and `leases` are kept; `touches` only against `exclusive`: a soft overlap
   leaves no slot idle.
3. A task that is blocked waits at the thing that blocks it, and only the first in that queue is looked at
   when it is free again. So thousands of tasks that use one thing cost no more than thousands that do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from interlock.model.leases import Leasable, offered
from interlock.model.task import CRITICAL, NORMAL, Task
from interlock.plan.glob_index import GlobIndex
from interlock.plan.network import Network

RATE = 0.1
BONUS_SECONDS = 1_800.0

_Key = tuple[bool, float, int]
"""Sorts before others: starts before others. Ends in the number of the task."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The start of each task, by its number, and the end of the last one."""

    starts: Sequence[float]
    end: float


class Wants:
    """The things that each task, by its number, holds while it runs, and those that keep it from starting."""

    def __init__(self, network: Network, index: GlobIndex, leases: Sequence[Leasable] = ()) -> None:
        self.network = network
        self.places = {f"lease:{each.name}": each.count for each in leases}
        """The number of holders of what more than one task may hold."""
        self.held = [_held(task) for task in network.tasks]
        self.barred = [_barred(task, index) for task in network.tasks]


def _held(task: Task) -> list[str]:
    keys = [f"use:{name}" for name in task.uses]
    keys += [f"lease:{offered(name)}" for name in task.leases]
    keys += [f"own:{glob}" for glob in task.exclusive]
    return keys + [f"any:{glob}" for glob in (*task.touches, *task.exclusive, *task.shared)]


def _barred(task: Task, index: GlobIndex) -> list[str]:
    keys = [f"use:{name}" for name in task.uses]
    keys += [f"lease:{offered(name)}" for name in task.leases]
    keys += [f"any:{near}" for glob in task.exclusive for near in index.near(glob)]
    return keys + [f"own:{near}" for glob in (*task.touches, *task.shared) for near in index.near(glob)]


class _Simulation:
    def __init__(self, wants: Wants, slots: int, seconds: Sequence[float]) -> None:
        network = wants.network
        self._wants, self._network, self._slots, self._seconds = wants, network, slots, seconds
        self._held: dict[str, int] = {}
        """The number of running tasks that hold each thing."""
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
            blocker = self._blocker(self._wants.barred[i])
            if blocker:
                heappush(self._queues.setdefault(blocker, []), key)
            else:
                self._take(i)
                self._starts[i] = now
                heappush(self._running, (now + self._seconds[i], i))
            if origin and blocker != origin:
                self._call_next(origin)

    def _blocker(self, barred: Sequence[str]) -> str | None:
        places = self._wants.places
        for thing in filter(self._held.__contains__, barred):
            if self._held[thing] + barred.count(thing) > places.get(thing, 1):
                return thing
        return None

    def _take(self, i: int) -> None:
        held = self._held
        for thing in self._wants.held[i]:
            held[thing] = held.get(thing, 0) + 1

    def _end(self, i: int, now: float) -> None:
        self._give_back(i)
        for other in self._network.needed_by[i]:
            self._unmet[other] -= 1
            if not self._unmet[other]:
                self._make_ready(other, now)

    def _give_back(self, i: int) -> None:
        freed: list[str] = []
        for thing in self._wants.held[i]:
            self._held[thing] -= 1
            if not self._held[thing]:
                del self._held[thing]
            if thing not in self._held or thing in self._wants.places:
                freed.append(thing)
        for thing in freed:
            self._call_next(thing)

    def _call_next(self, thing: str) -> None:
        """Let the first task that waits for a thing try again, if the thing is free."""
        if self._queues.get(thing) and (thing not in self._held or thing in self._wants.places):
            heappush(self._ready, (heappop(self._queues[thing]), thing))


def simulate(wants: Wants, slots: int, seconds: Sequence[float]) -> Timeline:
    return _Simulation(wants, slots, seconds).run()
