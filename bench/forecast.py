"""Forecasts beside what came: does the ninety-per-cent figure cover ninety per cent (Must show 4).

A hidden truth (medians, spreads, chances and prices by kind of work) makes runs in simulated time; the real
fold, tallies, estimates and rehearsals learn from them and foretell each next run before it happens.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from bench.table import Row
from interlock.engine.estimates import estimated
from interlock.engine.foresight import Foreseen, Terms, foresee, planned
from interlock.engine.rehearsal import Fate, Rehearsal, Script, imagined
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.state import State, TaskState
from interlock.learn.footprints import Footprints
from interlock.model.history import BranchHistory
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


def measure(short: bool, projects: str = "") -> list[Row]:
    """Coverage over many projects, each with its own truth; `projects` (0:20) takes a part of them."""
    first, last = map(int, (projects or ("0:1" if short else "0:60")).split(":"))
    runs = [run for seed in range(first, last) for run in _project(seed, 3 if short else 6)]
    return [
        Row("runs foretold", len(runs), ""),
        *_covered("time", [(seconds, told.seconds_p50, told.seconds_p90) for seconds, _, told in runs]),
        *_covered(
            "cost", [(cost, told.cost_usd_p50 or 0.0, told.cost_usd_p90 or 0.0) for _, cost, told in runs]
        ),
    ]


def _covered(what: str, runs: list[tuple[float, float, float]]) -> Iterator[Row]:
    """How many of the runs stayed below their p50 and their p90."""
    for place, name, target in ((1, "p50", 50), (2, "p90", 90)):
        share = 100 * sum(run[0] <= run[place] for run in runs) / len(runs)
        yield Row(f"{what}: at most its {name}", share, "%")
        yield Row(f"  away from {target} (5 is honest)", abs(share - target), "%", target=5)


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
        for estimate in estimated(state, terms.selection or (), Footprints(BranchHistory())):
            apply(state, imagined(state, now, estimate))
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
