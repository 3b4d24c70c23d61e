"""How much of a grid or a property is tried by day, in `make test`; `make test-night` tries all of it."""

import os
from collections.abc import Collection, Iterable
from typing import Any

import pytest
from hypothesis import settings

EXAMPLES = int(os.environ.get("INTERLOCK_TEST_EXAMPLES", "25"))
"""Of each property."""


def examples(share: float) -> settings:
    """Try a property with more or fewer examples than others, by day and by night."""
    return settings(max_examples=max(1, int(EXAMPLES * share)))


def rest_at_night(cells: Iterable[Any], by_day: Collection[Any]) -> list[Any]:  # Any: what parametrize takes
    """Leave some cells of a grid to the night."""
    return [cell if cell in by_day else _at_night(cell) for cell in cells]


def _at_night(cell: Any) -> Any:  # Any: what parametrize takes; a tuple is a value for each of several names
    values = cell if isinstance(cell, tuple) else (cell,)
    return pytest.param(*values, marks=pytest.mark.night)
