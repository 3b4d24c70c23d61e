"""How long the board's schedule takes, in simulated time, beside other schedules and beside the lower bound.

The board is the real one, and so are fold and lane. Half of the published instances, and all generated ones,
were held out when its rules were chosen; rows say so. There are two lower bounds: the one that
`interlock plan` shows, which the targets are about, and a closer one (`bound`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import mean

from bench import optimum, policies, theta
from bench.bound import close_bound, plain_bound
from bench.chart import write_chart
from bench.problems import GENERATED, Problem, footprints, generated, heavy, mispredicted, published
from bench.table import Row
from interlock.model.task import Task

TITLE = "schedule: makespan of the board in simulated time"
WORKERS = (2, 4, 8)
LEASES = 3.0
"""Files there are for each task, where every file is a lease."""
OPTIMA = 2
"""So many of each set are given to CP-SAT."""


@dataclass(frozen=True, slots=True)
class Case:
    """One problem in one variant with so many workers, and what every policy makes of it."""

    problem: Problem
    durations: str
    leases: bool
    workers: int
    bound: float
    close_bound: float
    makespan: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.problem.name}, {self.workers} workers{', leases' * self.leases}"

    def to_bound(self, policy: str) -> float:
        """As a ratio to the lower bound."""
        return self.makespan[policy] / self.bound

    @property
    def to_close_bound(self) -> float:
        """Ours, beside the closer one."""
        return self.makespan["ours"] / self.close_bound


def measure(short: bool, instances: str = "", plot: str = "", part: str = "") -> list[Row]:
    """Ratios over generated instances, and over those of a folder if one is given."""
    sets = {"generated": generated(1 if short else GENERATED)}
    if instances:
        sets |= published(instances)
    rows: list[Row] = []
    if part in ("", "order"):
        rows += _orders(sets, plot)
    if part in ("", "optimum"):
        rows += _best(sets, short)
    if part in ("", "theta"):
        rows += theta.rows(theta.measure_cells(_sample(sets, 1 if short else 8), short))
    return rows


def _orders(sets: dict[str, list[Problem]], plot: str) -> list[Row]:
    rows: list[Row] = []
    groups: dict[str, dict[str, float]] = {}
    for name, durations in product(sets, ("given", "heavy-tailed")):
        cases = list(_cases(sets[name], durations))
        rows += _rows(f"{name}, {durations}", cases)
        groups[f"{name}, {durations}"] = _means(cases)
    if plot:
        write_chart(Path(plot), "makespan / lower bound, mean over instances and worker counts", groups)
    return rows


def _sample(sets: dict[str, list[Problem]], most: int) -> list[Problem]:
    """Some of each set, those that were held out first; huge ones are left to the rest of the measurement."""
    each = [
        sorted((p for p in group if len(p.tasks) <= 130), key=lambda p: not p.held_out)[
            : most // len(sets) + 1
        ]
        for group in sets.values()
    ]
    return [problem for group in each for problem in group][:most]


def _cases(group: Iterable[Problem], durations: str) -> Iterator[Case]:
    for seed, problem in enumerate(group):
        for leases, workers in product((False, True), WORKERS):
            tasks = _tasks(problem, durations, leases, seed)
            bounds = plain_bound(tasks, workers), close_bound(tasks, workers)
            case = Case(problem, durations, leases, workers, *bounds)
            case.makespan.update(_makespans(tasks, workers, seed))
            yield case


def _tasks(problem: Problem, durations: str, leases: bool, seed: int) -> list[Task]:
    tasks = heavy(problem.tasks, seed) if durations == "heavy-tailed" else problem.tasks
    return _with_leases(tasks, seed) if leases else tasks


def _with_leases(tasks: list[Task], seed: int) -> list[Task]:
    edited = footprints(tasks, int(LEASES * len(tasks)), seed)
    return [replace(task, uses=tuple(sorted(edited[task.id]))) for task in tasks]


def _makespans(tasks: list[Task], workers: int, seed: int) -> dict[str, float]:
    return {
        "ours": policies.ours(tasks, workers),
        "ours, misled": policies.ours_misled(tasks, mispredicted(tasks, seed), workers),
        "random order": policies.in_random_order(tasks, workers, seed),
        "waves": policies.waves(tasks, workers),
    }


def _means(cases: list[Case]) -> dict[str, float]:
    return {policy: mean(case.to_bound(policy) for case in cases) for policy in cases[0].makespan}


def _rows(name: str, cases: list[Case]) -> list[Row]:
    worst = max(cases, key=lambda case: case.to_bound("ours"))
    furthest = max(cases, key=lambda case: case.to_close_bound)
    held_out = [case.to_bound("ours") for case in cases if case.problem.held_out]
    close = mean(case.to_close_bound for case in cases)
    means = _means(cases)
    wave = mean(case.makespan["waves"] / case.makespan["ours"] for case in cases)
    at_best = mean(case.makespan["waves"] / case.close_bound for case in cases)
    return [
        Row(f"{name} ({len(cases)} cases): ours / lower bound, mean", means["ours"], "x", target=1.06),
        Row(f"{name}: the same, held out only ({len(held_out)})", mean(held_out or [0.0]), "x", target=1.06),
        Row(f"{name}: ours / lower bound, most: {worst}", worst.to_bound("ours"), "x", target=1.15),
        Row(f"{name}: ours / closer bound, mean", close, "x", target=1.06),
        Row(f"{name}: ours / closer bound, most: {furthest}", furthest.to_close_bound, "x", target=1.15),
        Row(f"{name}: predictions off by lognormal 0.7 / lower bound, mean", means["ours, misled"], "x"),
        Row(f"{name}: random order / lower bound, mean", means["random order"], "x"),
        Row(f"{name}: waves / ours, mean", wave, "x", least=1.5 if "given" in name else 1.9),
        Row(f"{name}: waves / closer bound: no schedule gets more out of them", at_best, "x"),
    ]


def _best(sets: dict[str, list[Problem]], short: bool) -> list[Row]:
    """What a solver would gain, where ours is furthest from the lower bound."""
    if short or not optimum.is_installed():
        print("  CP-SAT is left out: " + ("this is the short run" if short else "`make bench` installs it"))
        return []
    rows: list[Row] = []
    for name, durations in product(sets, ("given", "heavy-tailed")):
        cases = sorted(_cases(sets[name], durations), key=lambda case: -case.to_bound("ours"))
        for case in cases[:OPTIMA]:
            seed, ours = sets[name].index(case.problem), case.makespan["ours"]
            best = optimum.optimum(_tasks(case.problem, durations, case.leases, seed), case.workers, ours)
            what = f"{name}, {durations}: ours / CP-SAT in {optimum.SECONDS:g} s: {case}"
            rows.append(Row(what, ours / best, "x", best / case.bound, "CP-SAT / bound"))
    return rows
