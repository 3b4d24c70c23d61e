"""How long the board's schedule takes beside the lower bound and beside waves, in simulated time."""

import random
from pathlib import Path
from statistics import mean

from bench.drive import Drive
from bench.instances import read_instances
from bench.table import Row
from interlock.model.task import Agent, Task, TaskId
from interlock.plan import analyse

TITLE = "schedule: makespan of the board in simulated time"
AGENT = Agent("bench", "command", ("true",))
WORKERS = (2, 4, 8)


def measure(short: bool, instances: str = "") -> list[Row]:
    """Ratios over generated instances, and over those of a folder if one is given."""
    sets = {
        f"generated, {tail} durations": [_generated(seed, tail) for seed in range(8 if short else 40)]
        for tail in ("even", "heavy-tailed")
    }
    if instances:
        sets |= read_instances(Path(instances))
    rows: list[Row] = []
    for name, group in sets.items():
        rows += _ratios(name, group)
    return rows


def _ratios(name: str, group: list[list[Task]]) -> list[Row]:
    to_bound, to_ours = [], []
    for tasks in group:
        for workers in WORKERS:
            ours = Drive(tasks, workers).run()
            to_bound.append(ours / analyse(tasks, workers).lower_bound_seconds)
            to_ours.append(_in_waves(tasks, workers) / ours)
    count = f"{len(group)} x {len(WORKERS)} worker counts"
    return [
        Row(f"{name} ({count}): ours / lower bound, mean", mean(to_bound), "x", target=1.06),
        Row(f"{name}: ours / lower bound, most", max(to_bound), "x", target=1.15),
        Row(f"{name}: waves / ours, mean", mean(to_ours), "x"),
    ]


def _in_waves(tasks: list[Task], workers: int) -> float:
    """Each wave starts when all of the one before have ended; within a wave the longest go first."""
    level: dict[TaskId, int] = {}
    for task in tasks:  # needs come first in every instance
        level[task.id] = 1 + max((level[need] for need in task.needs), default=0)
    total = 0.0
    for wave in range(1, max(level.values()) + 1):
        ends = [0.0] * workers
        for seconds in sorted((t.estimate_seconds for t in tasks if level[t.id] == wave), reverse=True):
            ends[ends.index(min(ends))] += seconds
        total += max(ends)
    return total


def _generated(seed: int, tail: str) -> list[Task]:
    """Sixty tasks in a layered graph with needs that skip layers, like the projects people plan."""
    dice = random.Random(seed)
    tasks: list[Task] = []
    for number in range(60):
        earlier = tasks[max(0, number - 15) : number]
        needs = dice.sample(earlier, min(len(earlier), dice.choice((0, 1, 1, 2, 3))))
        seconds = dice.uniform(60, 600) if tail == "even" else 60 * dice.paretovariate(1.2)
        tasks.append(
            Task(
                TaskId(f"t{number}"),
                "",
                AGENT,
                needs=tuple(need.id for need in needs),
                estimate_seconds=min(seconds, 7_200),
            )
        )
    return tasks
