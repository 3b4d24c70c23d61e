"""How a red check is told: in a line to a person, in full to the next attempt."""

import pytest

from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult, Unable
from interlock.train import refusal

NAMES = tuple(f"test_{number}" for number in range(7))


def test_a_line_names_the_first_tests_and_the_next_attempt_is_told_all() -> None:
    check = CheckResult("make", 1, newly_failing=NAMES)
    assert refusal(check) == "fails tests that do not fail on main (test_0, test_1, test_2 and 4 more)"
    assert refusal(check, in_full=True) == f"fails tests that do not fail on main ({', '.join(NAMES)})"


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (CheckResult("make", 2), "exited 2"),
        (CheckResult("make", 1, unable=Unable.NO_TESTS), "ran no tests"),
        (
            CheckResult("make", 1, unable=Unable.NO_TESTS, suite=SuiteResult(flaw="r.xml is cut off")),
            "does not show that any test ran: r.xml is cut off",
        ),
        (CheckResult("make", 127, unable=Unable.PROGRAM), "cannot run any more (exited 127)"),
        (
            CheckResult("make", 127, unable=Unable.SETUP, about="uv sync"),
            "was not started: the set-up `uv sync` exited 127",
        ),
        (
            CheckResult("make", 1, newly_failing=("a",), vanished=("b",)),
            "fails tests that do not fail on main (a) and did not pass tests that pass on main (b)",
        ),
        (CheckResult("make", 1, main_passed=9), "keeps fewer than half of the 9 tests of main"),
        (
            CheckResult("make", 1, main_passed=9, suite=SuiteResult(flaw="r.xml is cut off")),
            "keeps fewer than half of the 9 tests of main: r.xml is cut off",
        ),
    ],
)
def test_every_reason_is_named(check: CheckResult, told: str) -> None:
    assert refusal(check) == told
