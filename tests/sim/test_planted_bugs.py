"""The simulation has teeth: each of these mistakes is noticed within the seeds that everybody runs. S12."""

import gc
from collections.abc import Callable

import pytest

from tests.sim.bugs import BUGS, Bug
from tests.sim.world import Outcome, run_seed

pytestmark = [
    pytest.mark.sim,
    pytest.mark.slow,
    # A process that dies leaves coroutines it had made and not begun; that is what dying means.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
]

SHORT_TIER = 250
"""As many seeds as `make test` runs."""
LIKELY = (2, 17, 109, 205, 91, 38, 27, 24, 7)
"""The seeds that caught the bugs last time; they only save time, and any seed of the tier counts."""


def first_caught(bug: Bug) -> Outcome | None:
    with bug.planted():
        outcomes = (run_seed(seed) for seed in dict.fromkeys((*LIKELY, *range(SHORT_TIER))))
        return next((outcome for outcome in outcomes if outcome.violations), None)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "-"))
def test_a_planted_bug_is_caught(bug: Bug, record_property: Callable[[str, object], None]) -> None:
    caught = first_caught(bug)
    assert caught is not None, f"{SHORT_TIER} seeds do not notice: {bug.name}"
    rule = caught.violations[0].partition(":")[0]
    record_property("figure", f"planted: {bug.name:40} caught by {rule:8} with seed {caught.seed:3}")
    gc.collect()  # what dead engines left goes while its warnings are still expected


def test_without_a_planted_bug_the_same_seeds_are_quiet() -> None:
    """Every swap is taken back: what one bug did must not be left for the next test."""
    for bug in BUGS:
        with bug.planted():
            pass
    assert not [seed for seed in range(10) if run_seed(seed).violations]
    gc.collect()
