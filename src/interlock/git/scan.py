"""Reads what an agent has written so far, while it goes on writing. Nothing there is changed.

1. No link is followed, neither to a file nor on the way to one: each folder is opened below the one that
   holds it. What is replaced in between is missed, and seen at the next look.
2. Only regular files are opened, and never waited for.
3. Folders are bounded in number, depth and length of their names, and by time. `TooMuch` says what it was.
4. What cannot be read counts as unchanged: its folder stays shut.
5. Of a copy, all files are listed, and only those are read that are new or were written to. Two folders that
   swapped their names are not noticed: their files are as old as they were.
"""

import os
import stat
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from interlock.git.files import folders_above, open_folder
from interlock.git.written import REPLACED

ENTRIES = 300_000
"""Files and folders of one workspace; a copy has all files of the repository."""
NEW_ENTRIES = 20_000
"""Files of one workspace that may have changed."""
DEPTH = 100
PATH_BYTES = 2048
FILE_BYTES = 8 << 20
"""A larger file is left out: it counts as unchanged."""
CONTENT_BYTES = 64 << 20
"""All changed files of one workspace."""
CPU_SECONDS = 3.0
"""Time to walk one workspace."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuch(Exception):
    """A workspace is larger than the radar takes."""


class Mark(NamedTuple):
    """Signs that a file was written to, and its kind as git has it."""

    mode: bytes
    inode: int
    size: int
    changed: int
    """The kernel sets this time, and no program can set it back."""


@dataclass(slots=True)
class Scan:
    """The files of a workspace that may differ from those it began with; two that are equal hold the same."""

    files: dict[str, Mark] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    """Folders that show nothing of what was below them."""
    unread: set[str] = field(default_factory=set)
    """Folders that are shut."""


def scan(root: Path, ignored: Collection[str], known: Collection[str], since_ns: int | None) -> Scan:
    """Look at all of a workspace, without the folders that are `ignored`.

    `known`: the files that its folder began with. `since_ns`: it is a copy, and only what was written since
    then may have changed.
    """
    found, waiting, count = Scan(), [""], 0
    there = set[str]()
    began = time.thread_time()
    while waiting:
        above = waiting.pop()
        for entry in _listed(root, above, found, is_layer=since_ns is None):
            count += 1
            path = f"{above}{entry.name}"
            _check(path, count, time.thread_time() - began if count % 1000 == 0 else 0.0)
            if entry.name == ".git" or path in ignored:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            elif (mark := _mark(entry)) is None:
                found.gone.add(path)
            else:
                there.add(path)
                # The files of a folder that was moved are as old as they were, at new paths.
                is_old = since_ns is not None and mark.changed < since_ns and path in known
                if mark.size <= FILE_BYTES and not is_old:
                    found.files[path] = mark
        if len(found.files) > NEW_ENTRIES:
            raise TooMuch(f"it has more than {NEW_ENTRIES:,} changed files")
    found.gone |= {path for path in known if path not in there and not _is_in(path, found.unread)}
    return found


def _is_in(path: str, folders: Collection[str]) -> bool:
    return bool(folders) and ("" in folders or any(above in folders for above in folders_above(path)))


def _check(path: str, count: int, seconds: float) -> None:
    if count > ENTRIES:
        raise TooMuch(f"it has more than {ENTRIES:,} files")
    if seconds > CPU_SECONDS:
        raise TooMuch(f"it takes more than {CPU_SECONDS:g} s to list")
    if path.count("/") > DEPTH:
        raise TooMuch(f"its folders are more than {DEPTH} deep")
    if len(path) > PATH_BYTES:
        raise TooMuch(f"a path in it is longer than {PATH_BYTES:,} bytes")


def _listed(root: Path, above: str, found: Scan, *, is_layer: bool) -> Iterable[os.DirEntry[str]]:
    try:
        folder = open_folder(root, above)
    except PermissionError:
        found.unread.add(above.rstrip("/"))
        return []
    except OSError:
        return []  # gone, or a link by now
    try:
        if is_layer and _is_replaced(folder):
            found.replaced.add(above.rstrip("/"))
        with os.scandir(folder) as entries:
            # Their states are read while the folder is open: its path may lead elsewhere a moment later.
            return [entry for entry in entries if _is_there(entry)]
    except OSError:
        found.unread.add(above.rstrip("/"))
        return []
    finally:
        os.close(folder)


def _is_replaced(folder: int) -> bool:
    try:
        return os.getxattr(folder, REPLACED) == b"y"
    except OSError:
        return False


def _is_there(entry: os.DirEntry[str]) -> bool:
    try:
        entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return True


def _mark(entry: os.DirEntry[str]) -> Mark | None:
    """The kind of a file; None for a removal mark, a pipe and the like: git has none of them."""
    seen = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(seen.st_mode):
        mode = b"120000"
    elif stat.S_ISREG(seen.st_mode):
        mode = b"100755" if seen.st_mode & stat.S_IXUSR else b"100644"
    else:
        return None
    return Mark(mode, seen.st_ino, seen.st_size, seen.st_ctime_ns)


def read(root: Path, path: str, mark: Mark) -> bytes | None:
    """The content of a file, or the target of a link; None if it is something else by now."""
    above, _, name = path.rpartition("/")
    try:
        folder = open_folder(root, above)
    except OSError:
        return None
    try:
        if mark.mode == b"120000":
            return os.fsencode(os.readlink(name, dir_fd=folder))
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)
    with open(file, "rb") as content:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        text = content.read(FILE_BYTES + 1)
        return text if len(text) <= FILE_BYTES else None
