"""The real engine in the simulated world: 100 seeds, ten thousand at night. D4, A4, R1-R6, R12.

INTERLOCK_SIM_SEEDS sets how many seeds, INTERLOCK_SIM_SEED repeats one. A seed that ever failed stays in
regression_seeds.txt and runs every time.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.sim.world import Outcome, run_seed
from tests.tiers import rest_thorough

pytestmark = [
    pytest.mark.sim,
    pytest.mark.slow,
    # A process that dies leaves coroutines it had made and not begun; that is what dying means.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
]

SEEDS = int(os.environ.get("INTERLOCK_SIM_SEEDS", "100"))
ONE = os.environ.get("INTERLOCK_SIM_SEED")
CHUNK = 25
LAST_LINES = 60
REGRESSIONS = Path(__file__).with_name("regression_seeds.txt")


def remembered() -> list[int]:
    lines = (line.partition("#")[0].strip() for line in REGRESSIONS.read_text().splitlines())
    return [int(line) for line in lines if line]


def chunks() -> list[range]:
    if ONE is not None:
        return [range(int(ONE), int(ONE) + 1)]
    return [range(first, min(first + CHUNK, SEEDS)) for first in range(0, SEEDS, CHUNK)]


def story(outcome: Outcome) -> str:
    """What to read, and what to type, when a seed fails."""
    return "\n".join(
        [
            f"SEED={outcome.seed} broke: {'; '.join(outcome.violations[:3])}",
            *outcome.lines[-LAST_LINES:],
            "repeat it:",
            f"  INTERLOCK_SIM_SEED={outcome.seed} make test ARGS='tests/sim/test_simulation.py -k must_hold'",
            "then add the seed to tests/sim/regression_seeds.txt, so that it is run for ever",
        ]
    )


def check(seeds: Iterable[int]) -> list[Outcome]:
    outcomes = []
    for seed in seeds:
        outcomes.append(outcome := run_seed(seed))
        assert not outcome.violations, story(outcome)
    gc.collect()  # what dead engines left goes while its warnings are still expected
    return outcomes


@pytest.mark.parametrize(
    "seeds", rest_thorough(chunks(), always=chunks()[:1]), ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}"
)
def test_whatever_goes_wrong_everything_that_must_hold_holds(seeds: range) -> None:
    outcomes = check(seeds)
    if seeds == range(CHUNK):
        assert_eventful(outcomes)


def assert_eventful(outcomes: list[Outcome]) -> None:
    """A simulation in which nothing happens would pass too."""
    kinds = {kind for outcome in outcomes for kind in outcome.troubles}
    assert kinds >= {"crash", "pause", "down", "cut", "trouble"}
    assert sum(outcome.landed for outcome in outcomes) > 0.5 * sum(outcome.tasks for outcome in outcomes)


def test_a_seed_that_ever_failed_holds_now() -> None:
    check(remembered())


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_run_whatever_the_hash_seed_of_the_interpreter() -> None:
    program = "from tests.sim.world import run_seed; print([run_seed(s).trace_hash for s in range(100, 106)])"

    def run(hash_seed: str) -> str:
        root = Path(__file__).parents[2]
        paths = os.pathsep.join([str(root), str(root / "src")])
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths}
        argv = [sys.executable, "-W", "ignore", "-c", program]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout

    assert run("1") == run("2") == f"{[run_seed(seed).trace_hash for seed in range(100, 106)]}\n"
