"""Forecasts beside what came: does the ninety-per-cent figure cover ninety per cent (Must show 4).

A hidden truth (medians, spreads, chances and prices by kind of work) makes runs in simulated time; the real
fold, tallies, estimates and rehearsals learn from them and foretell each next run before it happens.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from bench.table import Row
from interlock.engine.foresight import Foreseen, Terms, foresee, planned
from interlock.engine.rehearsal import Fate, Rehearsal, Script, imagined
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.state import State, TaskState
from interlock.model.task import Agent, Task, TaskId

TITLE = "forecast: p50 and p90 of whole runs, on runs that were held out"
AGENT = Agent("coder", "command", ("true",))
CATEGORIES = ("backend", "docs", "tests")
TASKS, SLOTS = 12, 3
LEARNED_RUNS = 4
"""Runs in the log before the first forecast that counts."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What nobody is told about one kind of work."""

    median: float
    sigma: float
    lands: float
    dollars: float


def measure(short: bool) -> list[Row]:
    """Coverage over many projects, each with its own truth."""
    projects, held_out = (6, 3) if short else (60, 6)
    under90, under50, dollars90, total = 0, 0, 0, 0
    for seed in range(projects):
        for seconds, cost, foreseen in _project(seed, held_out):
            total += 1
            under90 += seconds <= foreseen.seconds_p90
            under50 += seconds <= foreseen.seconds_p50
            dollars90 += cost <= (foreseen.cost_usd_p90 or 0.0)
    p90, dollars = 100 * under90 / total, 100 * dollars90 / total
    return [
        Row("runs foretold", total, ""),
        Row("took at most the p90 of their time", p90, "%"),
        Row("  away from 90 (85 to 95 is honest)", abs(p90 - 90), "%", target=5),
        Row("took at most the p50 of their time", 100 * under50 / total, "%"),
        Row("cost at most the p90 of their cost", dollars, "%"),
        Row("  away from 90 (85 to 95 is honest)", abs(dollars - 90), "%", target=5),
    ]


def _project(seed: int, held_out: int) -> Iterator[tuple[float, float, Foreseen]]:
    """One project's runs: seconds and dollars of each that was held out, and what was foretold of it."""
    dice = random.Random(seed)
    truths = {name: _truth(dice) for name in CATEGORIES}
    state, now = State(), 0.0
    for number in range(LEARNED_RUNS + held_out):
        tasks = _tasks(dice, number)
        accepted = [f.TaskAccepted(task) for task in tasks]
        terms = Terms(now, SLOTS, tuple(task.id for task in tasks), seed)
        foreseen = foresee(planned(state, accepted), terms) if number >= LEARNED_RUNS else None
        for fact in accepted:
            apply(state, imagined(state, now, fact))
        run = Rehearsal(state, now, _script(truths, dice))
        run.begin(SLOTS, terms.selection)
        outlook = run.run()
        now = state.time + 3600
        if foreseen:
            yield outlook.seconds, outlook.cost_usd, foreseen


def _truth(dice: random.Random) -> Truth:
    return Truth(
        median=math.exp(dice.uniform(math.log(60), math.log(1200))),
        sigma=dice.uniform(0.3, 0.9),
        lands=dice.uniform(0.55, 0.95),
        dollars=dice.uniform(0.02, 2.0),
    )


def _tasks(dice: random.Random, run: int) -> list[Task]:
    tasks: list[Task] = []
    for number in range(TASKS):
        needs = tuple(task.id for task in dice.sample(tasks, min(len(tasks), dice.choice((0, 0, 1, 2)))))
        category = dice.choice(CATEGORIES)
        tasks.append(Task(TaskId(f"r{run}-t{number}"), "", AGENT, needs, category=category, retries=8))
    return tasks


def _script(truths: dict[str, Truth], dice: random.Random) -> Script:
    def fate(task: TaskState, _attempt: int) -> Fate:
        truth = truths[task.spec.category]
        size = dice.lognormvariate(0.0, truth.sigma)
        return Fate(truth.median * size, dice.random() < truth.lands, 5.0, truth.dollars * size)

    return fate
