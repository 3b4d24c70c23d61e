"""Rooms of every kind of sandbox that works on this machine."""

from pathlib import Path

import pytest

from tests.sandbox.room import FULL, REDUCED, Room, furnished
from tests.tiers import rest_thorough


@pytest.fixture(params=rest_thorough([*FULL, *REDUCED], always=[FULL[0], REDUCED[0]]))
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    """Any sandbox."""
    return furnished(tmp_path, request.param)


@pytest.fixture(params=rest_thorough(FULL, always=FULL[:1]))
def full_room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    """A sandbox that lacks nothing."""
    return furnished(tmp_path, request.param)
