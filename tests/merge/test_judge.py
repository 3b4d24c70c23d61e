"""Checks are judged as a difference to the base (W8, D7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.merge import judge
from interlock.model.outcome import CheckResult

RED = CheckResult("make test", 1)
GREEN = CheckResult("make test", 0)


def test_what_passes_may_land() -> None:
    assert judge([GREEN], (), {}).passed


def test_what_was_green_before_is_held_against_the_change() -> None:
    verdict = judge([RED], (), {"make test": 0})
    assert (verdict.passed, verdict.red, verdict.unknown) == (False, (RED,), ())


def test_what_is_red_on_the_base_is_reported_and_not_held_against_the_change() -> None:
    verdict = judge([RED], (), {"make test": 2})
    assert verdict.passed and verdict.red == ()
    assert [check.red_on_base for check in verdict.checks] == [True]


def test_what_the_task_itself_promised_must_pass_even_if_the_base_is_red() -> None:
    verdict = judge([RED], ("make test",), {"make test": 2})
    assert verdict.red == (RED,) and not verdict.checks[0].red_on_base


def test_a_failure_nobody_knows_the_base_of_asks_for_a_run_there() -> None:
    verdict = judge([RED, RED], (), {})
    assert (verdict.passed, verdict.red, verdict.unknown) == (False, (), ("make test",))


def test_a_command_that_ran_out_of_time_has_failed_whatever_its_exit_code() -> None:
    assert not judge([CheckResult("make test", 0, timed_out=True)], (), {"make test": 0}).passed


commands = st.sampled_from(["a", "b", "c"])
results = st.lists(
    st.builds(CheckResult, command=commands, exit_code=st.integers(0, 1), timed_out=st.booleans())
)


@pytest.mark.property
@pytest.mark.slow
@given(results, st.sets(commands), st.dictionaries(commands, st.integers(0, 1)))
def test_every_failed_check_is_red_excused_or_unknown_and_nothing_else_is(
    checks: list[CheckResult], done_when: set[str], base_exit: dict[str, int]
) -> None:
    verdict = judge(checks, done_when, base_exit)
    assert len(verdict.checks) == len(checks)
    for before, after in zip(checks, verdict.checks, strict=True):
        buckets = [before in verdict.red, after.red_on_base, before.command in verdict.unknown]
        assert sum(buckets) == (not before.passed) or (before.passed and not after.red_on_base)
        assert not (after.red_on_base and before.command in done_when)


@pytest.mark.property
@pytest.mark.slow
@given(results, st.sets(commands), st.dictionaries(commands, st.integers(0, 1)))
def test_once_the_unknown_commands_ran_on_the_base_the_verdict_is_final(
    checks: list[CheckResult], done_when: set[str], base_exit: dict[str, int]
) -> None:
    first = judge(checks, done_when, base_exit)
    second = judge(checks, done_when, base_exit | dict.fromkeys(first.unknown, 1))
    assert second.unknown == ()
    assert second.passed == (not first.red)
