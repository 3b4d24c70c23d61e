"""Lengths of time, written and read."""

import pytest

from interlock.model.durations import lasting, seconds_of, time_text


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("2d", 172800), ("1.5m", 90)]
)
def test_lengths_of_time_are_written_as_people_do(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "5 m", "-5m", "inf", "nan", "1e3", "5w", "m5", "1m30", "٣s", "9" * 41])
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        seconds_of(text)


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 300, 5400, 86400, 90061, 0.5, 1.25])
def test_a_length_of_time_reads_back_as_it_was_written(seconds: float) -> None:
    assert seconds_of(time_text(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0s"), (0.9, "0s"), (59, "59s"), (61, "1m1s"), (3600, "1h"), (3661, "1h1m"), (90061, "1d1h")],
)
def test_for_reading_two_units_are_enough(seconds: float, text: str) -> None:
    assert lasting(seconds) == text
