"""Scheduling problems: published ones from a folder, generated ones, and what is varied in both by dice."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.instances import AGENT, read_instances
from interlock.model.task import Task, TaskId

GENERATED = 12
TAIL = 1.5
"""The exponent of the Pareto law that stretches heavy-tailed durations: finite mean, endless variance."""
LONGEST = 20.0
MISS = 0.7
"""Predictions are off by a lognormal factor with this sigma."""
FILES = 3
"""A task edits one file to this many."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Tasks as they are planned."""

    name: str
    tasks: list[Task]
    held_out: bool = False
    """Nothing was tuned on it."""


def published(folder: str) -> dict[str, list[Problem]]:
    """By family: what the file is called up to the first digits that number it."""
    found: dict[str, list[Problem]] = {}
    for kind, group in read_instances(Path(folder)).items():
        for at, tasks in enumerate(group):
            family = f"PSPLIB j{len(tasks) - 2}" if kind.endswith(".sm") else "workflow traces"
            found.setdefault(family, []).append(Problem(f"{family} #{at}", tasks, held_out=at % 2 == 1))
    return found


def generated(count: int) -> list[Problem]:
    """Sixty tasks each in a layered graph with needs that skip layers, like the projects people plan."""
    return [Problem(f"generated #{seed}", list(_layered(seed)), held_out=True) for seed in range(count)]


def _layered(seed: int) -> Iterator[Task]:
    dice = random.Random(seed)
    names: list[TaskId] = []
    for number in range(60):
        earlier = names[max(0, number - 15) :]
        needs = dice.sample(earlier, min(len(earlier), dice.choice((0, 1, 1, 2, 3))))
        names.append(TaskId(f"t{number}"))
        yield Task(names[-1], "", AGENT, needs=tuple(needs), estimate_seconds=dice.uniform(60, 600))


def heavy(tasks: list[Task], seed: int) -> list[Task]:
    """The same with durations stretched by a heavy tail."""
    dice = random.Random(seed)
    return [
        replace(task, estimate_seconds=task.estimate_seconds * min(LONGEST, dice.paretovariate(TAIL)))
        for task in tasks
    ]


def mispredicted(tasks: list[Task], seed: int) -> list[Task]:
    """The same with estimates that are wrong."""
    dice = random.Random(seed)
    return [
        replace(task, estimate_seconds=task.estimate_seconds * dice.lognormvariate(0, MISS)) for task in tasks
    ]


def footprints(tasks: list[Task], files: int, seed: int) -> dict[TaskId, frozenset[str]]:
    """What each task edits: a few files, and a few files are what everybody edits (Zipf)."""
    dice = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(files)]
    return {
        task.id: frozenset(
            f"f{file}" for file in dice.choices(range(files), weights, k=dice.randint(1, FILES))
        )
        for task in tasks
    }
