"""Overlapping footprints in many regimes: what the log teaches the board, beside two fixed rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from bench.drive import Drive
from bench.policies import forecast, locked
from bench.problems import Problem, footprints, heavy
from bench.table import Row
from bench.world import World
from interlock.events.overlaps import Overlaps

WORKERS = (2, 4, 8)
CROWDS = {"many files": 3.0, "few files": 0.5}
"""Files there are, for each task."""
DICE = 1_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One regime."""

    workers: int
    crowd: str
    conflict: float
    rework: float
    durations: str

    def __str__(self) -> str:
        return (
            f"{self.workers} workers, {self.crowd}, P(conflict) {self.conflict:g}, "
            f"rework {self.rework:g}, {self.durations}"
        )


@dataclass(slots=True)
class Sum:
    """What a policy needed for all problems of a cell, one run after the other."""

    seconds: float = 0.0
    work: float = 0.0

    def add(self, drive: Drive) -> None:
        """One more run."""
        self.seconds += drive.run()
        self.work += drive.work


@dataclass(frozen=True, slots=True)
class Outcome:
    """One cell, measured."""

    cell: Cell
    learned: Sum
    lock: Sum
    optimistic: Sum

    @property
    def to_better(self) -> float:
        """The learned rule's makespan beside the better of the two fixed rules."""
        return self.learned.seconds / min(self.lock.seconds, self.optimistic.seconds)

    @property
    def work(self) -> float:
        """The learned rule's work beside the optimist's."""
        return self.learned.work / self.optimistic.work


def cells(short: bool) -> Iterator[Cell]:
    """All regimes."""
    prices = ((0.2, 0.2), (0.2, 1.0), (0.5, 0.5), (0.5, 1.0), (0.8, 0.2), (0.8, 1.0))
    if short:
        yield from (Cell(4, "few files", *price, "given") for price in ((0.2, 0.2), (0.8, 1.0)))
        return
    for workers, crowd, price, durations in product(WORKERS, CROWDS, prices, ("given", "heavy-tailed")):
        yield Cell(workers, crowd, *price, durations)


def measure_cells(problems: list[Problem], short: bool) -> list[Outcome]:
    """Every regime with every policy."""
    return [_measure(cell, problems) for cell in cells(short)]


def _measure(cell: Cell, problems: list[Problem]) -> Outcome:
    lock, optimistic, learned = Sum(), Sum(), Sum()
    known = Overlaps()
    for seed, problem in enumerate(problems, start=DICE):
        tasks = heavy(problem.tasks, seed) if cell.durations != "given" else problem.tasks
        edited = footprints(tasks, max(2, int(CROWDS[cell.crowd] * len(tasks))), seed)
        world = World(edited=edited, conflict=cell.conflict, rework=cell.rework, seed=seed)
        lock.add(Drive([locked(task, edited[task.id]) for task in tasks], cell.workers, world))
        optimistic.add(Drive(tasks, cell.workers, world))
        learned.add(Drive([forecast(task, edited[task.id]) for task in tasks], cell.workers, world, known))
    return Outcome(cell, learned, lock, optimistic)


def rows(outcomes: list[Outcome]) -> list[Row]:
    """The worst cells by name, and what fixed rules would have cost in theirs."""
    worst = sorted(outcomes, key=lambda outcome: -outcome.to_better)
    busiest = max(outcomes, key=lambda outcome: outcome.work)
    lock = max(outcomes, key=lambda outcome: outcome.lock.seconds / outcome.optimistic.seconds)
    late = max(outcomes, key=lambda outcome: outcome.optimistic.seconds / outcome.lock.seconds)
    within = sum(outcome.to_better <= 1.06 for outcome in outcomes)
    return [
        Row(f"learned / better of both, cells within 1.06 of {len(outcomes)}", within, "cells"),
        *(
            Row(f"learned / better of both, worst #{at}: {outcome.cell}", outcome.to_better, "x", target=1.06)
            for at, outcome in enumerate(worst[:3], start=1)
        ),
        Row(f"learned / optimistic, work, most: {busiest.cell}", busiest.work, "x", target=1.0),
        Row(f"lock / optimistic, most: {lock.cell}", lock.lock.seconds / lock.optimistic.seconds, "x"),
        Row(f"optimistic / lock, most: {late.cell}", late.optimistic.seconds / late.lock.seconds, "x"),
        Row("optimistic / lock, work, mean", _mean(o.optimistic.work / o.lock.work for o in outcomes), "x"),
        Row("learned / lock, work, mean", _mean(o.learned.work / o.lock.work for o in outcomes), "x"),
    ]


def _mean(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
