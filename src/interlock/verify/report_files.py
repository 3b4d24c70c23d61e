"""Finds the JUnit files that a check wrote, and nothing that was there before it.

1. Only the layers that the command itself wrote to are looked at. A file of the tree under test never counts,
   even if the command wrote over it: an agent could have put it there.
2. A file that the command only moved or touched up keeps its old time, and does not count either.
3. No link is followed, and nothing but plain files is opened.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from interlock.model.errors import EnvironmentProblem
from interlock.verify.protocol import Room
from interlock.verify.reports.filed import Filed
from interlock.verify.reports.junit import BrokenReport, NotJUnit, Tests, read_document

MOST_ENTRIES = 100_000
"""Files and folders of a layer that are looked at."""
MOST_FILES, MOST_BYTES = 5_000, 32 << 20
HEAD_BYTES = 4_096
"""In these a document must name its kind; reports of coverage are far larger, and are not read."""
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuch(Exception):
    """More than anyone would write as a report."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A folder that a command writes to."""

    folder: Path
    tree: Path | None = None
    """The folder of the tree under test, if that is another one."""
    before: frozenset[str] = frozenset()
    """The files that were there before the command."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The layers of one room, before its command has run."""

    layers: tuple[Layer, ...]
    began_ns: int

    def read(self) -> Filed:
        """The reports that were written since. Call it when no process of the command is left."""
        documents: list[Tests] = []
        size = 0
        try:
            for path in self._written():
                size += path.stat(follow_symlinks=False).st_size
                if len(documents) == MOST_FILES or size > MOST_BYTES:
                    raise TooMuch(f"it wrote more than {MOST_FILES} report files or {MOST_BYTES >> 20} MiB")
                with suppress(NotJUnit):
                    documents.append(_read(path))
        except (TooMuch, BrokenReport, OSError) as problem:
            return Filed(tuple(documents), str(problem))
        return Filed(tuple(documents))

    def _written(self) -> Iterator[Path]:
        for layer in self.layers:
            for name, found in _documents(layer.folder):
                is_old = name in layer.before or found.st_mtime_ns <= self.began_ns
                if not is_old and not (layer.tree and os.path.lexists(layer.tree / name)):
                    path = layer.folder / name
                    if _begins_as_junit(path):
                        yield path


def watch(room: Room, marker: Path) -> Watch:
    """Note what is there. `marker` is written: its time is what the disk gives to files from now on."""
    try:
        marker.write_bytes(b"")
        began_ns = marker.stat().st_mtime_ns
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {marker}: {error.strerror}") from error
    return Watch(tuple(_noted(layer) for layer in _layers(room)), began_ns)


def _layers(room: Room) -> Sequence[Layer]:
    overlays = room.grant.overlays if room.grant else ()
    if not overlays:
        return [Layer(room.path)]
    # The first lower layer of the checkout is the tree; those of its ignored folders are the person's own.
    at = str(room.path)
    return [Layer(Path(each.upper), Path(each.lower[0]) if each.at == at else None) for each in overlays]


def _noted(layer: Layer) -> Layer:
    try:
        return Layer(layer.folder, layer.tree, frozenset(name for name, _ in _documents(layer.folder)))
    except TooMuch:  # then there will be too much afterwards too
        return layer


def _documents(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The plain files that end in `.xml` below a folder, always in the same order."""
    waiting, count = [""], 0
    while waiting:
        above = waiting.pop()
        for entry in _listed(root / above):
            count += 1
            if count > MOST_ENTRIES:
                raise TooMuch(f"it left more than {MOST_ENTRIES} files and folders")
            path = f"{above}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            elif path.endswith(".xml") and entry.is_file(follow_symlinks=False):
                yield path, entry.stat(follow_symlinks=False)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    """By name. A folder that cannot be looked into has no report."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _begins_as_junit(path: Path) -> bool:
    with suppress(OSError), _opened(path) as file:
        return b"<testsuite" in file.read(HEAD_BYTES)
    return False


def _read(path: Path) -> Tests:
    try:
        with _opened(path) as file:
            return read_document(file.read(MOST_BYTES))
    except BrokenReport as problem:
        raise BrokenReport(f"its report {path.name} cannot be read: {problem}") from problem


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, _PLAIN), "rb")
