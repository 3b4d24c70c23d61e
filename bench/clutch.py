"""How close the clutch comes to the best fixed number of agents, where nobody knows that number.

Ten runs of forty tasks each, in virtual time, through the real log, board, tallies and clutch. Regret is what
is lost beside the best fixed number, of what the clutch maximises: landed changes an hour, less the price of
the agents. The best fixed number is found by trying those around the optimum in the same world, and the same
runs are compared: forty tasks more or less lucky make a fifth of difference.
"""

from collections.abc import Callable
from statistics import mean

from bench.table import Row
from bench.workshop import CURVES, MOST, Curve, Result, Workshop
from interlock.engine.options import Options

TITLE = "clutch: regret to the best fixed number of agents (the provider's brake: `brake`)"
TASKS, RUNS, LEARNING = 40, 10, 5
TARGET = 10.0

Policy = Callable[[Workshop], Result]
POLICIES: dict[str, Policy] = {
    "the clutch": lambda shop: shop.run(TASKS, Options(max_parallel=MOST, auto=True)),
    "AIMD alone": lambda shop: shop.run(TASKS, Options(max_parallel=MOST), additive=True),
    "fixed 3": lambda shop: shop.run(TASKS, Options(max_parallel=3)),
    "fixed 10": lambda shop: shop.run(TASKS, Options(max_parallel=10)),
}


def measure(short: bool) -> list[Row]:
    """For every curve, and over all of them."""
    seeds, curves = (1, CURVES[3:4]) if short else (10, CURVES)
    rows: list[Row] = []
    regrets: dict[str, list[float]] = {name: [] for name in POLICIES}
    for curve in curves:
        best, value = _best_fixed(curve, seeds)
        for name, policy in POLICIES.items():
            shops = [_values(curve, policy, seed) for seed in range(seeds)]
            runs = [mean(run) for run in zip(*shops, strict=True)]
            regret = 100 * (1 - mean(runs[LEARNING:]) / value)
            regrets[name].append(regret)
            target = TARGET if name == "the clutch" and not short else None
            what = f"{curve.name} (best: {best}), {name}, runs {LEARNING + 1} to {RUNS}"
            rows.append(Row(what, regret, "%", target=target))
            if name == "the clutch":
                rows.append(Row(f"{curve.name}, {name}, run 1", 100 * (1 - runs[0] / value), "%"))
    for name, found in regrets.items():
        target = TARGET if name == "the clutch" and not short else None
        rows.append(Row(f"mean of all, {name}", mean(found), "%", target=target))
    return rows


def _values(curve: Curve, policy: Policy, seed: int) -> list[float]:
    shop = Workshop(curve, seed)
    return [policy(shop).value(curve) for _ in range(RUNS)]


def _best_fixed(curve: Curve, seeds: int) -> tuple[int, float]:
    """Of the numbers around the optimum: runs end, so what is best in the long run need not be best here."""

    def value(agents: int) -> float:
        fixed = Options(max_parallel=agents)
        shops = (_values(curve, lambda shop: shop.run(TASKS, fixed), seed) for seed in range(seeds))
        return mean(mean(runs[LEARNING:]) for runs in shops)

    near = range(max(1, curve.best - 2), min(MOST, curve.best + 2) + 1)
    found = {agents: value(agents) for agents in near}
    best = max(found, key=found.__getitem__)
    return best, found[best]
