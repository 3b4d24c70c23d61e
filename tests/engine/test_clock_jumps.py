"""The clock is set while work is under way, through the real command; on Postgres at night.

By day the contract of claims and of the log (tests/store) sets the clock of both.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.store.clocks import DAY, set_ahead

pytestmark = pytest.mark.slow

FAILS_ONCE = """
{wait}
if test "$INTERLOCK_ATTEMPT" = 1; then exit 3; fi
echo done > "$INTERLOCK_TASK_ID.txt"
"""


class Clock:
    """The clock of the database that a repository keeps its log in."""

    def __init__(self, url: str) -> None:
        self._url = url

    def set_ahead(self, seconds: float) -> None:
        set_ahead(self._url, seconds)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=(pytest.mark.postgres, pytest.mark.night))])
def clock(
    request: pytest.FixtureRequest, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Clock]:
    url = str(scratch.root / ".git" / "interlock" / "log.db")
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        monkeypatch.setenv("INTERLOCK_STORE", url)
    made = Clock(url)
    yield made
    made.set_ahead(0)


def _begun(scratch: Scratch, script: str, tasks: str = "  a: {goal: x, retries: 1}\n") -> None:
    """A graph that the log knows of."""
    scratch.graph(tasks, script)
    scratch.interlock("pause")


@pytest.mark.parametrize(
    ("before", "after"),
    [(DAY, 0), pytest.param(0, -DAY, marks=pytest.mark.night), pytest.param(0, DAY, marks=pytest.mark.night)],
)
def test_a_retry_waits_its_second_whatever_the_clock_is_set_to(
    scratch: Scratch, clock: Clock, gate: Path, before: float, after: float
) -> None:
    _begun(scratch, FAILS_ONCE.format(wait=WAIT.format(gate=gate)))
    clock.set_ahead(before)
    scratch.interlock("unpause")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    clock.set_ahead(after)
    gate.touch()
    assert run.wait() == 0, run.output
    failed, again = _moments(scratch)
    assert again - failed >= 1.0, "the back-off is kept, too"


def test_one_command_with_a_clock_that_is_a_day_ahead_delays_nothing(scratch: Scratch, clock: Clock) -> None:
    _begun(scratch, FAILS_ONCE.format(wait=":"))
    clock.set_ahead(DAY)
    scratch.interlock("unpause")
    clock.set_ahead(0)
    assert scratch.start("run").wait() == 0


def test_a_clock_that_jumps_ahead_ends_no_lease_timeout(scratch: Scratch, clock: Clock, gate: Path) -> None:
    tasks = "  a: {goal: x, uses: [db]}\n  b: {goal: y, uses: [db], lease_timeout: 1h}\n"
    _begun(scratch, f"{WAIT.format(gate=gate)}\necho done > $INTERLOCK_TASK_ID.txt", tasks)
    scratch.interlock("unpause")
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("implement started")
    clock.set_ahead(DAY)
    scratch.interlock("pause", "b")
    scratch.interlock("unpause", "b")  # the run has read these when it goes on
    gate.touch()
    assert run.wait() == 0, run.output
    assert set(scratch.states().values()) == {"done"}


def _moments(scratch: Scratch) -> tuple[float, float]:
    """When the first attempt failed, and when the second began."""
    failed = scratch.facts("PhaseFailed")[0]["time"]
    starts = [row["time"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
    return failed, starts[1]
