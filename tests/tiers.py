"""How much is tried when: thorough tests run in `make test-all`, and night ones in `make test-night`.

A test is thorough if it is slow and another one shows the same in fewer ways. `.ci/run` takes a part of them,
another one for each commit.
"""

import os
import zlib
from collections.abc import Collection, Iterable
from typing import Any

import pytest
from hypothesis import settings

EXAMPLES = int(os.environ.get("INTERLOCK_TEST_EXAMPLES", "25"))
"""Of each property."""


def examples(share: float) -> settings:
    """Try a property with more or fewer examples than others, by day and by night."""
    return settings(max_examples=max(1, int(EXAMPLES * share)))


THOROUGH = os.environ.get("INTERLOCK_THOROUGH", "1/1")
"""Which part of the thorough tests runs: `0/1` none, `3/8` the third of eight parts."""


def rest_at_night(cells: Iterable[Any], by_day: Collection[Any]) -> list[Any]:  # Any: what parametrize takes
    """Leave some cells of a grid to the night."""
    return [cell if cell in by_day else _marked(cell, pytest.mark.night) for cell in cells]


def rest_thorough(cells: Iterable[Any], always: Collection[Any]) -> list[Any]:  # Any: what parametrize takes
    """Leave some cells of a grid to `make test-all`."""
    return [cell if cell in always else _marked(cell, pytest.mark.thorough) for cell in cells]


def is_left_out(item: pytest.Item) -> bool:
    """Whether the test belongs to a part of the thorough ones that is not wanted now."""
    wanted, _, parts = THOROUGH.partition("/")
    return bool(item.get_closest_marker("thorough")) and part_of(item.nodeid, int(parts)) != int(wanted)


def part_of(name: str, parts: int) -> int:
    """The part that a test belongs to, from 1 up; the same in each process."""
    return zlib.crc32(name.encode()) % parts + 1


def _marked(
    cell: Any, mark: pytest.MarkDecorator
) -> Any:  # Any: a tuple is a value for each of several names
    values = cell if isinstance(cell, tuple) else (cell,)
    return pytest.param(*values, marks=mark)
