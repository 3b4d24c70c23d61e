"""How long trains of changes need to main, and how many builds: ours beside others, in simulated time.

Every policy gets the same random histories (`changes`), each red build that would be charged to a change runs
once more, and every tree that landed is compared with the truth. The rules were tuned on the seeds 0 to 15.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean

from bench.changes import CHANGES, Cell, History
from bench.chart import write_chart
from bench.drain import Policy, Train
from bench.table import Row, Watch
from bench.trains import WINDOW, Batches, Lane, Ours, Prefix
from interlock.model.task import TaskId
from interlock.train.speculation import Waiting, choose_builds

TITLE = "train: changes on their way to main, in simulated time"
SEEDS = range(100, 108)
GOAL = Cell(0.1, 0.3, 8, 0)
LONG = 200
"""Changes in the train for which the choice itself is timed."""


@dataclass(frozen=True, slots=True)
class Result:
    """One policy in one cell, mean over seeds."""

    to_oracle: float
    """Time until all have landed or gone back, beside that of a clairvoyant, who builds each change once."""
    builds: float
    """For each change, without repeats."""
    repeats: float
    check_seconds: float
    """For each landed change."""
    red_landings: int
    """Landed trees that are red, in all."""


Results = Mapping[Cell, Mapping[str, Result]]


def policies(slots: int) -> dict[str, Callable[[], Policy]]:
    """All of them by name. The product is `joint`; with two slots and less it has batches too. `ours` shows
    it without landings of several changes as one (`land_together = false`)."""
    found: dict[str, Callable[[], Policy]] = {
        "serial": lambda: Lane(1),
        "bors": Batches,
        "Zuul": Prefix,
        "lane of 2": lambda: Lane(2),
        "lane of all": lambda: Lane(slots),
        "ours": lambda: Ours(inputs=False),
        "ours, inputs": lambda: Ours(inputs=True),
        "ours, joint": lambda: Ours(inputs=False, joint=True),
        "inputs, joint": lambda: Ours(inputs=True, joint=True),
    }
    if slots <= 2:
        found["batches, joint"] = lambda: Ours(inputs=False, joint=True, batches=True)
        found["inputs, b., j."] = lambda: Ours(inputs=True, joint=True, batches=True)
    return found


def cells(short: bool) -> list[Cell]:
    """Kinds of projects and machines."""
    if short:
        return [Cell(0.1, 0.3, slots, 0.03 * (slots == 2)) for slots in (2, 8)]
    every = product((0, 0.03), (2, 8, 32), (0.02, 0.1, 0.2), (0.3, 0.8))
    return [Cell(bad, hot, slots, flakes) for flakes, slots, bad, hot in every]


def measure(short: bool, plot: str = "") -> list[Row]:
    """Every policy in every cell."""
    seeds = SEEDS[:1] if short else SEEDS
    results = {
        cell: {n: run(p, cell, seeds) for n, p in policies(cell.slots).items()} for cell in cells(short)
    }
    print(f"  seeds {seeds[0]} to {seeds[-1]}, {CHANGES} changes each")
    _print("time / oracle", results, lambda result: result.to_oracle)
    _print("builds for each change, without repeats", results, lambda result: result.builds)
    _print("repeats for each change", results, lambda result: result.repeats)
    _print("check-seconds for each landed change", results, lambda result: result.check_seconds)
    if plot:
        _draw(Path(plot), results)
    return _rows(results)


def run(policy: Callable[[], Policy], cell: Cell, seeds: Sequence[int]) -> Result:
    """One policy in one cell."""
    trains = [Train(History(cell, seed), policy()) for seed in seeds]
    for train in trains:
        train.drain()
    return Result(
        mean(train.now / train.history.oracle_seconds() for train in trains),
        mean(train.sums.builds / CHANGES for train in trains),
        mean(train.sums.repeats / CHANGES for train in trains),
        mean(train.sums.check_seconds / len(train.main) for train in trains),
        sum(train.history.red_landings(train.landings) for train in trains),
    )


def _print(title: str, results: Results, figure: Callable[[Result], float]) -> None:
    names = list(dict.fromkeys(name for found in results.values() for name in found))
    print(f"\n  {title:<40}" + "".join(f"{name:>15}" for name in names))
    for cell, found in results.items():
        print(f"  {cell!s:<40}" + "".join(f"{figure(r):>15.2f}" for n in names if (r := found.get(n))))


def _draw(file: Path, results: Results) -> None:
    names = ("Zuul", "lane of all", "ours", "ours, inputs", "ours, joint", "inputs, joint")
    groups = {
        f"{cell.slots} slots, hot {cell.hot:g}": {name: found[name].to_oracle for name in names}
        for cell, found in results.items()
        if cell.bad == GOAL.bad and cell.flakes == GOAL.flakes
    }
    write_chart(file, f"time / oracle, {GOAL.bad:.0%} of changes are red", groups)


def _rows(results: Results) -> list[Row]:
    few = {cell: found for cell, found in results.items() if cell.slots == 2}
    many = {cell: found for cell, found in results.items() if cell.slots != 2}
    goal = results[GOAL]["inputs, joint"]
    red = sum(result.red_landings for found in results.values() for result in found.values())
    return [
        Row(f"{GOAL}: ours with inputs / oracle", goal.to_oracle, "x", target=1.25),
        Row(f"{GOAL}: builds for each change", goal.builds, "", target=1.1),
        _worst("ours without inputs / Zuul", many, "ours, joint", "Zuul"),
        _worst("ours without inputs / Zuul, on 2 slots", few, "batches, joint", "Zuul"),
        _worst("ours without inputs / lane of 2, on 2 slots", few, "batches, joint", "lane of 2"),
        Row("landed trees that are red, all policies and cells", red, "", target=0),
        Row(f"choosing builds: {LONG} changes, 32 slots", _milliseconds(), "ms", target=20),
    ]


def _worst(what: str, results: Results, one: str, other: str) -> Row:
    ratios = {cell: found[one].to_oracle / found[other].to_oracle for cell, found in results.items()}
    worst = max(ratios, key=lambda cell: ratios[cell])
    return Row(f"{what}, worst: {worst}", ratios[worst], "x", target=1.0)


def _milliseconds() -> float:
    """The best of five choices. Half of all changes fail: nothing is certain."""
    areas = [f"area{at % 9}" for at in range(LONG)]
    queue = [
        Waiting(TaskId(f"t{at}"), 0.5, frozenset({f"{area}/{at}"}), (f"{area}/**", "lib/**"))
        for at, area in enumerate(areas)
    ]
    best = float("inf")
    for _ in range(5):
        watch = Watch()
        with watch.measure():
            choose_builds(queue, {}, (), 32, WINDOW)
        best = min(best, 1000 * watch.seconds)
    return best
