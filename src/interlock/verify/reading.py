"""Tells which files of a change a command has read, by their last access: it is set to 1970 beforehand.

It works in any language, and sees what a report cannot: an installed copy or an old build that was tested in
place of the change. A disk that does not note accesses says nothing; then nothing is said here either. Nor
does one that copies files unread (`copy_file_range`, reflinks), unless the sandbox keeps programs from that.
"""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LONG_AGO_NS = 0
"""1970. The kernel notes an access at once when the last one is older than the last change (`relatime`)."""


def mark_unread(folder: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Set these files below a folder to 1970; those that could be. Links and missing files are left out."""
    marked = []
    for path in paths:
        spot = folder / path
        with suppress(OSError, ValueError):
            if spot.is_symlink() or not spot.is_file():
                continue
            os.utime(spot, ns=(LONG_AGO_NS, spot.stat().st_mtime_ns))
            marked.append(path)
    return tuple(marked)


def still_unread(folder: Path, marked: Iterable[str]) -> tuple[str, ...]:
    """List the marked files that were not read since. A file that is gone by now counts as read."""
    return tuple(path for path in marked if _accessed_ns(folder / path) == LONG_AGO_NS)


def notes_accesses(folder: Path, *, copies_read: bool) -> bool:
    """Return True if the disk below this folder records that a file was read: not with `noatime`.

    `copies_read`: every program that copies a file there has to read it. Otherwise the disk is tested.
    """
    probe = folder / f".interlock-atime-{os.getpid()}"
    try:
        probe.write_text("read me")
        os.utime(probe, ns=(LONG_AGO_NS, probe.stat().st_mtime_ns))
        probe.read_text() if copies_read else _copy(probe)
        return _accessed_ns(probe) != LONG_AGO_NS
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink()


def _copy(probe: Path) -> None:
    """Copy a file as `cp` does."""
    with probe.open("rb") as source, tempfile.TemporaryFile(dir=probe.parent) as target:
        os.copy_file_range(source.fileno(), target.fileno(), 1 << 20)


def _accessed_ns(path: Path) -> int | None:
    try:
        return path.lstat().st_atime_ns
    except OSError:
        return None
