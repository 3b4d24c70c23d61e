"""Which landings made a check of a change red, by what is known already."""

import pytest

from interlock.train.together import suspects


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ([], None),
        ([None, None], None),
        ([False, False], None),
        ([True], range(1)),
        ([True, None, None], range(3)),
        ([True, None, False], range(2)),
        ([True, True, False, None], range(1, 2)),
        ([None, True], range(1, 2)),
        ([True, False, True], range(2, 3)),
    ],
)
def test_the_landings_after_the_last_green_result_up_to_the_next_red_one_are_suspected(
    before: list[bool | None], found: range | None
) -> None:
    assert suspects(before) == found
