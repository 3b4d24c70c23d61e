"""Other ways to schedule the same tasks, to compare ours with."""

import random
from collections.abc import Callable
from dataclasses import replace
from heapq import heapify, heappop, heappush

from bench.drive import Drive
from bench.world import World
from interlock.model.task import Task, TaskId
from interlock.plan import analyse


def ours(tasks: list[Task], workers: int) -> float:
    """The board, with the times that the tasks say."""
    return Drive(tasks, workers).run()


def ours_misled(tasks: list[Task], said: list[Task], workers: int) -> float:
    """The board, told other times than the tasks take."""
    return Drive(said, workers, World({task.id: task.estimate_seconds for task in tasks})).run()


def waves(tasks: list[Task], workers: int) -> float:
    """As many at once as there are workers, the next ones when all of them have ended (`plan --waves`)."""
    seconds = {task.id: task.estimate_seconds for task in tasks}
    return sum(max(seconds[name] for name in wave) for wave in analyse(tasks, workers).waves)


def in_random_order(tasks: list[Task], workers: int, seed: int) -> float:
    """Whoever is ready and drawn first; nobody waits for more than needs, leases and a worker."""
    dice = random.Random(seed)
    keys = {task.id: dice.random() for task in tasks}
    return in_order(tasks, workers, keys.__getitem__)


def in_order(tasks: list[Task], workers: int, key: Callable[[TaskId], float]) -> float:
    """Of those that could start, always the one with the least key."""
    unmet = {task.id: len(task.needs) for task in tasks}
    by_id = {task.id: task for task in tasks}
    following: dict[TaskId, list[TaskId]] = {}
    for task in tasks:
        for need in task.needs:
            following.setdefault(need, []).append(task.id)
    ready = [(key(name), name) for name, count in unmet.items() if not count]
    heapify(ready)
    ends: list[tuple[float, TaskId]] = []
    held: set[str] = set()
    now = 0.0
    while ready or ends:
        aside: list[tuple[float, TaskId]] = []
        while ready and len(ends) < workers:
            entry = heappop(ready)
            task = by_id[entry[1]]
            if held.intersection(task.uses):
                aside.append(entry)
                continue
            held.update(task.uses)
            heappush(ends, (now + task.estimate_seconds, task.id))
        for entry in aside:
            heappush(ready, entry)
        now, name = heappop(ends)
        held.difference_update(by_id[name].uses)
        for later in following.get(name, ()):
            unmet[later] -= 1
            if not unmet[later]:
                heappush(ready, (key(later), later))
    return now


def locked(task: Task, files: frozenset[str]) -> Task:
    """Nobody edits what somebody else is editing."""
    return replace(task, exclusive=tuple(sorted(files)))


def forecast(task: Task, files: frozenset[str]) -> Task:
    """What it will edit is known, and the board decides."""
    return replace(task, touches=tuple(sorted(files)))
