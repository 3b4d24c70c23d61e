"""Whose call goes next (P4: nobody starves)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.proxy.brake.brake import CallQueue


def test_attempts_take_turns_however_many_calls_one_of_them_has() -> None:
    line: CallQueue[str] = CallQueue()
    for number in range(3):
        line.join("busy", f"busy {number}")
    line.join("quiet", "quiet 0")
    assert [line.next() for _ in range(4)] == ["busy 0", "quiet 0", "busy 1", "busy 2"]


def test_who_has_left_is_not_called() -> None:
    line: CallQueue[str] = CallQueue()
    line.join("a", "first")
    line.join("a", "second")
    line.leave("a", "first")
    line.leave("a", "never there")
    assert line.next() == "second"
    assert len(line) == 0


@pytest.mark.property
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_nobody_is_passed_over_twice_by_the_same_attempt(joins: list[int]) -> None:
    line: CallQueue[int] = CallQueue()
    for who in joins:
        line.join(str(who), who)
    served = [line.next() for _ in joins]
    assert sorted(served) == sorted(joins)
    for who in set(joins):
        turns = [index for index, other in enumerate(served) if other == who]
        for one, two in pairwise(turns):
            between = served[one + 1 : two]
            assert len(between) == len(set(between))
