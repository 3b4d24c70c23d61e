"""Rooms of every kind of sandbox that works on this machine."""

from pathlib import Path

import pytest

from tests.sandbox.room import FULL, REDUCED, Room, furnished


@pytest.fixture(params=[*FULL, *REDUCED])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    """Any sandbox."""
    return furnished(tmp_path, request.param)


@pytest.fixture(params=FULL)
def full_room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    """A sandbox that lacks nothing."""
    return furnished(tmp_path, request.param)
