"""Whether a small checkout is as a commit has it, found out without a git process.

Where this says no, git is asked: it knows about filters, line endings and files that were only touched.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from interlock.git.index import Entry, small_index
from interlock.git.place import Place

_JUST_NOW_NS = 1_000_000_000
"""A file written so shortly before the index may have been written once more without a sign of it."""
_MASK = 0xFFFF_FFFF


def is_untouched(place: Place, folder: Path, index: Path, tree: str) -> bool:
    """Does the index hold exactly this tree, and the folder exactly what the index says."""
    held = small_index(index, place.id_bytes)
    if held is None or not held.is_whole or not tree or held.tree.hex() != tree:
        return False
    root = os.fsencode(folder)
    try:
        return all(map(_is_folder, _folders(root, held.entries))) and all(
            _is_same(place, root, entry, held.written_ns) for entry in held.entries
        )
    except OSError:
        return False


def _folders(root: bytes, entries: Sequence[Entry]) -> set[bytes]:
    found = set[bytes]()
    for entry in entries:
        name = entry.name
        while (name := name.rpartition(b"/")[0]) and (path := root + b"/" + name) not in found:
            found.add(path)
    return found


def _is_folder(path: bytes) -> bool:
    """A link to one would lead to files that are not in the checkout."""
    return stat.S_ISDIR(os.lstat(path).st_mode)


def _is_same(place: Place, root: bytes, entry: Entry, written_ns: int) -> bool:
    path = os.path.join(root, entry.name)  # noqa: PTH118 - names from git are bytes, which Path cannot hold
    now, was = os.lstat(path), entry.stat
    mtime_ns = was.mtime * 1_000_000_000 + was.mtime_ns
    if not (
        entry.is_plain
        and _mode(now.st_mode) == was.mode
        and now.st_mtime_ns == mtime_ns
        and now.st_ctime_ns == was.ctime * 1_000_000_000 + was.ctime_ns
        and now.st_ino & _MASK == was.ino
        and now.st_size & _MASK == was.size
    ):
        return False
    return mtime_ns < written_ns - _JUST_NOW_NS or _holds(place, path, now.st_mode, entry.object_id)


def _mode(mode: int) -> int:
    """As git knows it: a link, or a file that may be run or not."""
    if stat.S_ISLNK(mode):
        return 0o120000
    return (0o100755 if mode & stat.S_IXUSR else 0o100644) if stat.S_ISREG(mode) else 0


def _holds(place: Place, path: bytes, mode: int, object_id: bytes) -> bool:
    file = Path(os.fsdecode(path))
    content = os.fsencode(file.readlink()) if stat.S_ISLNK(mode) else file.read_bytes()
    return place.object_id("blob", content) == object_id.hex()
