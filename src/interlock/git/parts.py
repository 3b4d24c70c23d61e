"""Finds what a tree names but does not hold: submodules, and files that git LFS keeps elsewhere.

The checkout usually has them. Where it has not, checks and agents would fail for no fault of their own.
"""

import asyncio
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from interlock.git import lfs
from interlock.git.command import Git
from interlock.git.ignored import is_edited
from interlock.git.place import Place

_GITLINK = b"160000"


class PartKind(StrEnum):
    """Kinds of content that a tree names and does not hold."""

    SUBMODULE = "submodule"
    EDITED = "edited submodule"
    """A submodule with uncommitted changes: workspaces show its commit without them."""
    LFS = "lfs"


@dataclass(frozen=True, slots=True)
class AbsentPart:
    """A part of the tree that is not in the checkout."""

    kind: PartKind
    path: str


async def absent_parts(place: Place) -> tuple[AbsentPart, ...]:
    """The submodules and LFS files of the protected branch that the checkout lacks."""
    if place.work_tree is None:
        return ()
    git = Git(place.common_dir)
    modules, pointers = await asyncio.gather(
        git.names(f"{place.ref}:.gitmodules"), lfs.pointers(git, place.ref)
    )
    found: list[AbsentPart] = []
    root = place.work_tree
    for path in await _gitlinks(git, place.ref) if modules[0] else ():
        if not await asyncio.to_thread(_is_filled, root / path):
            found.append(AbsentPart(PartKind.SUBMODULE, path))
        elif await is_edited(root / path):
            found.append(AbsentPart(PartKind.EDITED, path))
    absent = await asyncio.to_thread(lambda: [path for path in pointers if lfs.read_pointer(root / path)])
    return (*found, *(AbsentPart(PartKind.LFS, path) for path in absent))


async def _gitlinks(git: Git, tree: str) -> list[str]:
    listed = (await git.run("ls-tree", "-r", "-z", tree)).out.split(b"\0")
    return [os.fsdecode(line.partition(b"\t")[2]) for line in listed if line.startswith(_GITLINK)]


def _is_filled(folder: Path) -> bool:
    """Return True if `git submodule update` has filled the folder."""
    return os.path.lexists(folder / ".git")
