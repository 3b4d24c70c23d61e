"""Turns the files that a set-up made, and that git does not track, into layers for workspaces and checks."""

import asyncio
import json
import os
import stat
from pathlib import Path

from interlock.git.attempt import AttemptFolder
from interlock.git.beside import Shown
from interlock.git.command import Git
from interlock.git.ignored import Layer, is_cache
from interlock.git.making import write_trusted
from interlock.git.place import Place

_NOTE = "built.json"


async def take_built(place: Place, room: Path, target: Path) -> None:
    """Move what was made in a room's upper layer to `target`, in the form that `read_built` knows."""
    folder = AttemptFolder(room)
    write_trusted(place, folder)
    git = Git(folder.trusted, folder.tree).having(GIT_INDEX_FILE=str(folder.index))
    said = await git.run("ls-files", "-o", "--directory", "-z", limit_bytes=64 << 20)
    names = [os.fsdecode(name).rstrip("/") for name in said.out.split(b"\0") if name]
    await asyncio.to_thread(_move, folder.tree, [name for name in names if not is_cache(name)], target)


def read_built(target: Path) -> Shown | None:
    """The layers of an earlier set-up, if it is there."""
    try:
        names = json.loads((target / _NOTE).read_bytes())
        layers = tuple(Layer(name, target / "layers" / name) for name in names)
    except (OSError, ValueError, TypeError):
        return None
    return Shown(target / "beside", layers)


def _move(upper: Path, names: list[str], target: Path) -> None:
    """Folders become layers; single files go to the folder that is one layer for all of them."""
    folders = []
    for name in names:
        kind = (upper / name).lstat().st_mode
        if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
            continue  # the mark of the overlay for a file that was removed
        place = target / ("layers" if stat.S_ISDIR(kind) else "beside") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        (upper / name).rename(place)
        if stat.S_ISDIR(kind):
            folders.append(name)
            (target / "beside" / name).mkdir(parents=True, exist_ok=True)
    (target / "beside").mkdir(parents=True, exist_ok=True)
    (target / _NOTE).write_text(json.dumps(folders))
