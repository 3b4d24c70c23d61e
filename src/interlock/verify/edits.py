"""Finds the files of a change that a command edited: it then tested other files than those that would land.

The command may leave anything in their place. No link on the way is followed, nothing but a regular file is
read, and a file is read only if it has the size that it had before: neither a device nor a sparse file of
terabytes keeps the engine busy.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from interlock.git.files import open_folder

Content = tuple[int, str]
"""The size of a file and a digest of what is in it."""
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def contents(folder: Path, paths: Iterable[str]) -> dict[str, Content]:
    """Return the content of those of these files that are there."""
    found = {path: _content(folder, path) for path in paths}
    return {path: content for path, content in found.items() if content}


def edited(folder: Path, before: Mapping[str, Content]) -> tuple[str, ...]:
    """List the files that have another content than before, or are gone."""
    return tuple(path for path, was in before.items() if _content(folder, path, was[0]) != was)


def _content(folder: Path, path: str, size: int | None = None) -> Content | None:
    """Return the content of a file; None if there is no such file, or none of this size."""
    above, _, name = path.rpartition("/")
    with suppress(OSError, ValueError):
        place = open_folder(folder, above)
        try:
            descriptor = os.open(name, _PLAIN, dir_fd=place)
        finally:
            os.close(place)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            seen = os.fstat(descriptor)
            if stat.S_ISREG(seen.st_mode) and size in (None, seen.st_size):
                return seen.st_size, hashlib.file_digest(file, "sha256").hexdigest()
    return None
