"""The history of the repository that this file is in."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock.git.discover import discover
from interlock.git.history import read_changes
from interlock.model.errors import InterlockError
from interlock.model.history import Change

WORTHWHILE = 60
"""A shallow clone has fewer, and nothing to judge by."""


def own_history(folder: Path) -> tuple[Change, ...]:
    """All changes of the branch; nothing if there is no history to speak of."""
    return asyncio.run(_read(folder))


async def _read(folder: Path) -> tuple[Change, ...]:
    try:
        place = await discover(folder)
    except InterlockError:
        return ()
    with TemporaryDirectory() as scratch:
        changes = await read_changes(place.git, place.ref, Path(scratch) / "history.json")
    return changes if len(changes) >= WORTHWHILE else ()
