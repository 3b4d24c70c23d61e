"""The content of files that git LFS keeps outside of the tree, as far as this machine has it.

A tree holds a pointer: the digest and the size of the content. The user's LFS store has it under its digest,
and so may the checkout. Nothing is downloaded here, and nothing is shown that does not match its digest.
"""

import asyncio
import hashlib
import os
import re
import shutil
from pathlib import Path

from interlock.git.command import Git
from interlock.git.files import copy_beneath, remove_tree
from interlock.git.place import Place

POINTER = b"version https://git-lfs.github.com/spec"
MOST_COPIED_BYTES = 1 << 30
"""Bytes copied from the checkout, which may change. A file of the store is linked, and takes no room."""
_POINTER_BYTES = 1024
_FORM = re.compile(rb"^oid sha256:([0-9a-f]{64})\nsize (\d+)$", re.MULTILINE)


async def pointers(git: Git, tree: str) -> list[str]:
    """The files of a tree that hold a pointer. Only where a `.gitattributes` speaks of LFS at all."""
    attributes = await git.run("grep", "-l", "-F", "filter=lfs", tree, "--", "*.gitattributes", ok=(0, 1))
    if not attributes.out:
        return []
    # `-I` leaves out binary files, which no pointer is.
    said = await git.run("grep", "-z", "-l", "-I", "-F", POINTER.decode(), tree, ok=(0, 1))
    names = (os.fsdecode(name) for name in said.out.split(b"\0") if name)
    return [name.removeprefix(f"{tree}:") for name in names]


async def fill(place: Place, files: Path, tree: str) -> tuple[list[str], list[str]]:
    """Put the content in place of the pointers among `files`; the paths that now have it, and the others."""
    names = await pointers(place.git, tree)
    filled = await asyncio.to_thread(_fill, place, files, names) if names else []
    return filled, [name for name in names if name not in {*filled}]


def has_content(place: Place, files: Path, name: str) -> bool:
    """Tell if there is content by now, as far as its size says, of a pointer among `files`."""
    found = read_pointer(files / name)
    if found is None:
        return False
    oid, size = found
    places = [_stored(place, oid), *([place.work_tree / name] if place.work_tree else [])]
    return any(path.is_file() and not path.is_symlink() and path.stat().st_size == size for path in places)


def _stored(place: Place, oid: str) -> Path:
    return place.common_dir / "lfs/objects" / oid[:2] / oid[2:4] / oid


def _fill(place: Place, files: Path, names: list[str]) -> list[str]:
    left, filled = MOST_COPIED_BYTES, []
    for name in names:
        path = files / name
        found = read_pointer(path)
        if found is None:
            continue
        oid, size = found
        if _is_link_of(_stored(place, oid), path, size):
            filled.append(name)
        elif place.work_tree and size <= left and _is_copy_of(place.work_tree, name, path, oid, size):
            left -= size
            filled.append(name)
    return filled


def read_pointer(path: Path) -> tuple[str, int] | None:
    """The digest and the size that a pointer names; None for a file that is none."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            text = file.read(_POINTER_BYTES)
    except OSError:
        return None
    said = _FORM.search(text) if text.startswith(POINTER) else None
    return (said[1].decode(), int(said[2])) if said else None


def _is_link_of(stored: Path, path: Path, size: int) -> bool:
    """Link to the store's file, which is never changed: its name is its digest."""
    try:
        if stored.stat().st_size != size:
            return False
        fresh = path.with_name(f"{path.name}.interlock-lfs")
        os.link(stored, fresh)
        fresh.replace(path)
    except OSError:
        return False
    return True


def _is_copy_of(root: Path, name: str, path: Path, oid: str, size: int) -> bool:
    """Copy the checkout's file, if it is what the pointer names. No link on the way there is followed."""
    fresh = path.with_name(f"{path.name}.interlock-lfs")
    fresh.mkdir()
    copy = fresh / name
    try:
        if (root / name).lstat().st_size != size or not copy_beneath(root, fresh, name) or copy.is_symlink():
            return False
        with copy.open("rb") as file:
            matches = hashlib.file_digest(file, "sha256").hexdigest() == oid
        if matches:
            shutil.copymode(path, copy)
            copy.replace(path)
    except OSError:
        return False
    finally:
        remove_tree(fresh)
    return matches
