"""Reads git's index, as far as small questions need it: which files there are, and what they were like."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_LARGE_BYTES = 64 << 10
"""Some 700 files: from there on git is quicker."""
_HEADER = struct.Struct(">4sII")
_STAT = struct.Struct(">10I")
_EXTENSION = struct.Struct(">4sI")
_LINK = 0o160000
"""The mode of a submodule."""
_EXTENDED, _NAME_BYTES = 0x4000, 0x0FFF
_PLAIN = 0x0FFF
"""The flags of an entry that is neither unmerged, nor taken for unchanged, nor extended: just its length."""


class Stat(NamedTuple):
    """What a file was like when git last looked; each number is cut to 32 bits."""

    ctime: int
    ctime_ns: int
    mtime: int
    mtime_ns: int
    dev: int
    ino: int
    mode: int
    uid: int
    gid: int
    size: int


class Entry(NamedTuple):
    """One file in an index."""

    name: bytes
    stat: Stat
    object_id: bytes
    is_plain: bool
    """Nothing is special about it: no conflict, and git looks at it as at any other."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index without submodules."""

    entries: tuple[Entry, ...]
    tree: bytes
    """The tree that it holds as a whole; empty where git has not noted that."""
    is_whole: bool
    """No part of it is kept in another file."""
    written_ns: int


def small_index(path: Path, id_bytes: int) -> Index | None:
    """Nothing if it is large, cannot be read, names submodules, or is of a kind that we do not write."""
    try:
        seen = path.stat()  # before it is read: what is written meanwhile counts as just written
        if seen.st_size > _LARGE_BYTES:
            return None
        return _parsed(path.read_bytes(), id_bytes, seen.st_mtime_ns)
    except (OSError, ValueError, struct.error):
        return None


def _parsed(content: bytes, id_bytes: int, written_ns: int) -> Index | None:
    signature, version, count = _HEADER.unpack_from(content)
    if signature != b"DIRC" or version not in (2, 3):
        return None
    entries, at = list[Entry](), _HEADER.size
    for _ in range(count):
        stat = Stat._make(_STAT.unpack_from(content, at))
        if stat.mode == _LINK:
            return None
        flags_at = at + _STAT.size + id_bytes
        flags = int.from_bytes(content[flags_at : flags_at + 2], "big")
        name_at = flags_at + (4 if flags & _EXTENDED else 2)
        length = flags & _NAME_BYTES
        end = name_at + length if length < _NAME_BYTES else content.index(b"\0", name_at)
        named = content[name_at:end]
        entries.append(Entry(named, stat, content[at + _STAT.size : flags_at], flags <= _PLAIN))
        at += (end - at) // 8 * 8 + 8  # one to eight zeros
    more = dict(_extensions(content, at, id_bytes))
    tree = _root(more.get(b"TREE", b""), id_bytes)
    return Index(tuple(entries), tree, b"link" not in more, written_ns)


def _extensions(content: bytes, at: int, id_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    while at + _EXTENSION.size + id_bytes <= len(content):  # a checksum is last
        name, size = _EXTENSION.unpack_from(content, at)
        at += _EXTENSION.size
        yield name, content[at : at + size]
        at += size


def _root(trees: bytes, id_bytes: int) -> bytes:
    """The first of the trees that git remembers; it has no name, and is void if it counts -1 entries."""
    counts, _, rest = trees.removeprefix(b"\0").partition(b"\n")
    return rest[:id_bytes] if counts and not counts.startswith(b"-") else b""
