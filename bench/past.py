"""The history of the repository that this file is in."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock.git.discover import discover
from interlock.git.history import read_changes
from interlock.model.errors import InterlockError
from interlock.model.history import Change
from interlock.model.task import Commit

WORTHWHILE = 60
"""A shallow clone has fewer, and nothing to judge by."""


def own_history(folder: Path) -> tuple[Change, ...]:
    """All changes of the branch; nothing if there is no history to speak of."""
    return asyncio.run(_read(folder))


def own_sizes(folder: Path) -> dict[Commit, dict[str, int]]:
    """How many lines each commit of the branch changed in each file."""
    return asyncio.run(_sizes(folder))


async def _sizes(folder: Path) -> dict[Commit, dict[str, int]]:
    place = await discover(folder)
    words = ("log", "--first-parent", "--numstat", "--no-renames", "-z", "--format=%x01%H")
    said = await place.git.run(*words, place.ref, "--", limit_bytes=64 << 20, timeout=60.0)
    sizes: dict[Commit, dict[str, int]] = {}
    lines: dict[str, int] = {}
    for item in said.items:
        text = item.lstrip("\n")
        if text.startswith("\x01"):
            lines = sizes.setdefault(Commit(text[1:]), {})
        elif text:
            added, removed, path = text.split("\t")
            lines[path] = sum(int(count) for count in (added, removed) if count != "-")  # "-": no text
    return sizes


async def _read(folder: Path) -> tuple[Change, ...]:
    try:
        place = await discover(folder)
    except InterlockError:
        return ()
    with TemporaryDirectory() as scratch:
        changes = await read_changes(place.git, place.ref, Path(scratch) / "history.json")
    return changes if len(changes) >= WORTHWHILE else ()
