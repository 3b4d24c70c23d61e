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

from interlock.git.files import folders_above, open_folder
from interlock.git.written import is_replaced

_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """The mode and content that git would keep of a file or a link."""

    size: int
    words: str
    """The digest of a file, or where a link leads."""
    is_link: bool = False
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """A file before the command."""

    layer: Path
    content: Content


def contents(layers: Sequence[Path], paths: Iterable[str]) -> dict[str, Before]:
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
                found[path] = Before(layer, content)
            break
    return found


def edited(folder: Path, before: Mapping[str, Before]) -> tuple[str, ...]:
    """List the files that have another content than before, lead elsewhere, became executable or are no
    longer, or are gone. `folder`: the first layer."""
    return tuple(path for path, was in before.items() if _is_edited(folder, path, was))


def _is_edited(folder: Path, path: str, was: Before) -> bool:
    try:
        return _content(folder, path, was.content.size) != was.content
    except FileNotFoundError:
        return was.layer == folder or any(is_replaced(folder / above) for above in folders_above(path))
    except OSError:
        return True


def _content(layer: Path, path: str, size: int | None = None) -> Content | None:
    """Return the content of a file or a link; None if it is neither, or a file that has not this size."""
    above, _, name = path.rpartition("/")
    place = open_folder(layer, above)
    try:
        seen = os.stat(name, dir_fd=place, follow_symlinks=False)
        if stat.S_ISLNK(seen.st_mode):
            return Content(seen.st_size, os.readlink(name, dir_fd=place), is_link=True)
        if not stat.S_ISREG(seen.st_mode):
            return None
        descriptor = os.open(name, _PLAIN, dir_fd=place)
    finally:
        os.close(place)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or size not in (None, seen.st_size):
            return None
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Content(seen.st_size, digest, is_executable=bool(seen.st_mode & stat.S_IXUSR))
