"""Whether a small folder holds exactly the files that an index names, found out without a git process.

Where this says no, or the folder is large, git is asked: it knows about ignored files, links and submodules.
"""

import os
import struct
from pathlib import Path

_LARGE_BYTES = 64 << 10
"""Some 700 files: from there on git is quicker."""
_HEADER = struct.Struct(">4sII")
_STAT_BYTES = 40
_MODE = slice(24, 28)
_LINK = 0o160000
"""The mode of a submodule."""
_EXTENDED, _NAME_BYTES = 0x4000, 0x0FFF


def holds_just(tree: Path, index: Path, id_bytes: int) -> bool:
    """Is all that the folder holds in the index: files, links, folders of those. `.git` does not count."""
    try:
        if index.stat().st_size > _LARGE_BYTES:
            return False
        tracked = _tracked(index.read_bytes(), id_bytes)
        return tracked is not None and _is_exact(os.fsencode(tree), tracked)
    except (OSError, ValueError, struct.error):
        return False


def _tracked(index: bytes, id_bytes: int) -> set[bytes] | None:
    """The names in an index; nothing if there are submodules or it is of a kind that we do not write."""
    signature, version, count = _HEADER.unpack_from(index)
    if signature != b"DIRC" or version not in (2, 3):
        return None
    names, at = set[bytes](), _HEADER.size
    for _ in range(count):
        entry = memoryview(index)[at:]
        if int.from_bytes(entry[_MODE], "big") == _LINK:
            return None
        flags_at = _STAT_BYTES + id_bytes
        flags = int.from_bytes(entry[flags_at : flags_at + 2], "big")
        name_at = at + flags_at + (4 if flags & _EXTENDED else 2)
        length = flags & _NAME_BYTES
        end = name_at + length if length < _NAME_BYTES else index.index(b"\0", name_at)
        names.add(index[name_at:end])
        at += (end - at) // 8 * 8 + 8  # one to eight zeros
    return names


def _is_exact(tree: bytes, tracked: set[bytes]) -> bool:
    needed = {b""}
    for name in tracked:
        while (name := name.rpartition(b"/")[0]) not in needed:
            needed.add(name)
    below = [b""]
    while below:
        folder = below.pop()
        path = os.path.join(tree, folder)  # noqa: PTH118 - names from git are bytes, which Path cannot hold
        with os.scandir(path) as entries:
            for entry in entries:
                name = folder + b"/" + entry.name if folder else entry.name
                if name == b".git":
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    if name not in tracked:
                        return False
                elif name in needed:
                    below.append(name)
                else:
                    return False
    return True
