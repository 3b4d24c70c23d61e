"""How long a check usually takes, and when it hangs."""

import pytest

from interlock.model.pace import HangLimits, Pace, check_words, pace_of


def test_the_usual_time_is_the_middle_of_the_last_runs() -> None:
    assert pace_of((20.0, 400.0, 21.0), HangLimits()) == Pace(21.0, 210.0)


def test_one_run_says_nothing() -> None:
    assert pace_of((20.0,), HangLimits()) is None


@pytest.mark.parametrize(("usual", "limit"), [(0.5, 120.5), (10.0, 130.0), (20.0, 200.0)])
def test_no_check_hangs_before_a_floor(usual: float, limit: float) -> None:
    pace = pace_of((usual, usual), HangLimits())
    assert pace and pace.limit_seconds == limit


def test_with_a_factor_of_0_no_check_hangs() -> None:
    assert pace_of((20.0, 20.0), HangLimits(factor=0)) == Pace(20.0, 0.0)


def test_a_late_check_is_named_with_its_usual_time() -> None:
    pace = Pace(20.0, 200.0)
    assert check_words("pytest -q", 25.0, pace) == "checks with `pytest -q`"
    late = "`pytest -q` has been running for 1m40s, usually 20s; ends after 3m20s"
    assert check_words("pytest -q", 100.0, pace) == late
    assert check_words("pytest -q", 100.0, None) == "checks with `pytest -q`"
