"""Pauses grow, have an end, and can be asked for after any number of failures."""

from interlock.model.backoff import grown


def test_a_pause_doubles_up_to_its_limit() -> None:
    assert [grown(2.0, 30.0, times) for times in range(6)] == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_million_failures_do_not_leave_the_range_of_a_float() -> None:
    assert grown(0.5, 30.0, 1_000_000) == 30.0
