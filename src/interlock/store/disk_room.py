"""Keeps a full disk an error that SQLite can report.

SQLite maps the file `-shm` into memory, and makes it longer by a byte in every 4 KiB. Where a file system has
smaller blocks, the rest are holes, and a write into one on a full disk ends the process with SIGBUS. So:

1. With less than `ROOM_BYTES` left, nothing is written, and no file `-shm` is made.
2. The blocks of the file are allocated when it is opened, by the descriptor that SQLite has: to open and
   close the file a second time would drop the locks of this process on it.
"""

import ctypes
import errno
import os
from contextlib import suppress
from functools import cache

ROOM_BYTES = 128 * 1024
INDEX_BYTES = 128 * 1024
"""For a log of about 64 MiB that waits to be copied into the database; usually that is done every 4 MiB."""
_OPEN_FILES = "/proc/self/fd"


def has_room(path: str) -> bool:
    """True if a transaction, with the files that SQLite makes for it, fits on the disk of this file."""
    try:
        disk = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120 - asked for each write
    except OSError:
        return True  # SQLite says better what is wrong
    # Not `f_bfree`: ext4 keeps a part of that from root, too.
    return disk.f_blocks == 0 or disk.f_bavail * disk.f_frsize >= ROOM_BYTES


def allocate_index(path: str) -> bool:
    """Allocate the file `-shm` of an open database; False if the disk has no room for it."""
    allocate = _fallocate()
    if allocate is None:
        return True
    name = os.path.realpath(f"{path}-shm")
    with suppress(OSError):  # no /proc
        for number in os.listdir(_OPEN_FILES):  # noqa: PTH208 - names are all that is needed
            with suppress(FileNotFoundError):  # closed meanwhile, by another thread
                if os.readlink(f"{_OPEN_FILES}/{number}") != name:  # noqa: PTH115 - as above
                    continue
                if allocate(int(number), 0, 0, INDEX_BYTES) and ctypes.get_errno() == errno.ENOSPC:
                    return False
    return True


@cache
def _fallocate() -> "ctypes._NamedFuncPointer | None":
    """The system call itself. Where a file system does not have it, `posix_fallocate` writes into the file,
    which other processes have mapped."""
    found = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None)
    if found is not None:
        found.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return found
