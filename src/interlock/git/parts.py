"""Finds what a tree names but does not hold: submodules, and files that git LFS keeps elsewhere.

The checkout usually has them. Where it has not, checks and agents would fail for no fault of their own.
"""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from interlock.git import lfs
from interlock.git.command import Git
from interlock.git.modules import find_modules, head_of
from interlock.git.place import Place


class PartKind(StrEnum):
    """Kinds of content that a tree names and does not hold."""

    SUBMODULE = "submodule"
    COMMIT = "commit of a submodule"
    """A submodule without the commit that the branch names: no check of the branch can start."""
    EDITED = "edited submodule"
    """A submodule with uncommitted changes: workspaces show its commit without them."""
    MOVED = "moved submodule"
    """A submodule at another commit than the branch names: workspaces show the one of the branch."""
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
    root = place.work_tree
    found = await _modules(place) if modules[0] else []
    absent = await asyncio.to_thread(lambda: [path for path in pointers if lfs.read_pointer(root / path)])
    return (*found, *(AbsentPart(PartKind.LFS, path) for path in absent))


async def _modules(place: Place) -> list[AbsentPart]:
    found = list[AbsentPart]()
    for module in await find_modules(place, place.ref, place.ref):
        kind = None
        if not module.is_initialized:
            kind = PartKind.SUBMODULE
        elif module.repository is None:
            kind = PartKind.COMMIT
        elif module.git and await head_of(module) != module.commit:
            kind = PartKind.MOVED
        elif module.git and (await module.git.run("status", "--porcelain", "-uno")).out:
            kind = PartKind.EDITED
        if kind:
            found.append(AbsentPart(kind, module.path))
    return found
