"""Files of a project that lead to folders of the host: links, and settings of virtual environments.

A file that git tracks came with a clone or from an agent, and may name any folder. So does a file of a
repository inside the project. Only what a person made here, untracked, is followed.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

CONFIG = "pyvenv.cfg"
MOST_HOPS = 40
"""The most links that the kernel follows on the way to one file."""
MOST_BYTES = 1 << 20
Tracked = Callable[[Sequence[str]], Collection[str]]
"""Returns those of some paths, relative to the project's root, that git tracks."""


class Checkout:
    """A project, and those of its files that git tracks."""

    def __init__(self, root: str, tracked: Tracked) -> None:
        self.root = os.path.realpath(root) if root else ""
        self._tracked = tracked

    def vouched(self, paths: Iterable[Path]) -> list[Path]:
        """Return the paths that are reached through no file, link or repository that git tracks here."""
        ways = {path: [hop for hop in _hops(path) if self.has(hop)] for path in paths}
        asked = {os.path.relpath(hop, self.root) for way in ways.values() for hop in way}
        tracked = set(self._tracked(sorted(asked))) if asked else set()
        return [path for path, way in ways.items() if not any(self._is_foreign(hop, tracked) for hop in way)]

    def has(self, path: str) -> bool:
        """Tell if it is a path in the project, and not the project."""
        return bool(self.root) and path != self.root and Path(path).is_relative_to(self.root)

    def _is_foreign(self, path: str, tracked: Collection[str]) -> bool:
        relative = os.path.relpath(path, self.root)
        above = [folder for folder in Path(relative).parents if folder != Path()]
        return relative in tracked or any(os.path.lexists(f"{self.root}/{each}/.git") for each in above)


def read_small(path: Path) -> bytes:
    """The content of a regular file; nothing if there is none, or if it is larger than a person writes.

    A link may lead to a device without an end, and opening a pipe waits for ever.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
            content = file.read(MOST_BYTES + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""
    return content if len(content) <= MOST_BYTES else b""


def _hops(path: Path) -> Iterator[str]:
    """Yield each link on the way to a file by its real place, and a file of settings itself."""
    here, rest, links = "/", list(reversed(path.parts[1:])), 0
    while rest and links < MOST_HOPS:
        part = rest.pop()
        step = os.path.normpath(
            f"{here.rstrip('/')}/{part}"
        )  # `here` is no link: `..` is the folder around it
        if os.path.islink(step):  # noqa: PTH114 - text like the rest
            links += 1
            yield step
            leads = Path(os.readlink(step))  # noqa: PTH115 - the same
            rest += reversed(leads.parts[1:] if leads.is_absolute() else leads.parts)
            step = "/" if leads.is_absolute() else here
        here = step
    if path.name == CONFIG:
        yield here
