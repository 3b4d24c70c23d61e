"""Finds the files of a change that a command edited: it then tested other files than those that would land.

The command may leave anything in their place. No link on the way is followed, nothing but a regular file is
read, and a file is read only if it has the size that it had before: neither a device nor a sparse file of
terabytes keeps the engine busy.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.git.files import open_folder

_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """A file before the command."""

    layer: Path
    size: int
    digest: str


def contents(layers: Sequence[Path], paths: Iterable[str]) -> dict[str, Content]:
    """Return the content of those of these files that are there. The command writes to the first layer; a
    file that is not in it is taken from the next."""
    found = {}
    for path in paths:
        for layer in layers:
            try:
                content = _content(layer, path)
            except FileNotFoundError:
                continue
            except (OSError, ValueError):
                break
            if content:
                found[path] = content
            break
    return found


def edited(folder: Path, before: Mapping[str, Content]) -> tuple[str, ...]:
    """List the files that have another content than before, or are gone. `folder`: the first layer."""
    return tuple(path for path, was in before.items() if _is_edited(folder, path, was))


def _is_edited(folder: Path, path: str, was: Content) -> bool:
    try:
        now = _content(folder, path, was.size)
    except FileNotFoundError:
        return was.layer == folder  # nothing covers the file of a layer below
    except OSError:
        return True
    return now is None or now.digest != was.digest


def _content(layer: Path, path: str, size: int | None = None) -> Content | None:
    """Return the content of a file; None if it is no regular file, or none of this size."""
    above, _, name = path.rpartition("/")
    place = open_folder(layer, above)
    try:
        descriptor = os.open(name, _PLAIN, dir_fd=place)
    finally:
        os.close(place)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or size not in (None, seen.st_size):
            return None
        return Content(layer, seen.st_size, hashlib.file_digest(file, "sha256").hexdigest())
