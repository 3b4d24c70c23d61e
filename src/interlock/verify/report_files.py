"""Finds the JUnit files that a check wrote, and nothing that was there before it.

1. Only the layers that the command itself wrote to are looked at. A file of the tree under test never counts:
   an agent could have put it there. If the command wrote over it, the reports are not all there is.
2. A file that the command only moved keeps its old time, and does not count either.
3. No link is followed, and nothing but plain files is opened. A link of the tree beside a report may have led
   another report away, and so may one to a folder outside of the checkout, wherever it is.
4. A file that cannot be read does not hide the others.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
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
"""The beginning of a document, which must name its kind; coverage reports are far larger and are not read."""
_REMOVE = "remove it from the repository and ignore it"
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuch(Exception):
    """More data than a report has."""


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """A folder that a command writes to."""

    folder: Path
    tree: Path | None = None
    """The folder of the tree under test, if that is another one."""
    at: Path | None = None
    """The path of the checkout, where this is its layer."""
    before: frozenset[str] = frozenset()
    """The files that were there before the command."""

    def held(self, name: str) -> bool:
        """Return True if a file of this name existed before the command."""
        return name in self.before or bool(self.tree and os.path.lexists(self.tree / name))


@dataclass(frozen=True, slots=True)
class FolderWatch:
    """The layers of one room, before its command has run."""

    layers: tuple[OutputFolder, ...]
    began_ns: int

    def read(self) -> Filed:
        """The reports that were written since. Call it when no process of the command is left."""
        documents: list[Tests] = []
        flaws: list[str] = []
        folders: dict[Path, Path] = {}
        size = 0
        try:
            for layer, name in self._written():
                folder = Path(name).parent
                folders[folder] = (layer.tree or layer.folder) / folder
                size += (layer.folder / name).stat(follow_symlinks=False).st_size
                if len(documents) == MOST_FILES or size > MOST_BYTES:
                    raise TooMuch(f"it wrote more than {MOST_FILES} report files or {MOST_BYTES >> 20} MiB")
                try:
                    documents.append(_read(layer, name))
                except BrokenReport as problem:
                    flaws.append(str(problem))
                except NotJUnit:
                    continue
        except (TooMuch, OSError) as problem:
            flaws.append(str(problem))
        return Filed(tuple(documents), next(chain(flaws, self._led_away(folders)), ""))

    def _written(self) -> Iterator[tuple[OutputFolder, str]]:
        for layer in self.layers:
            for name, found in _documents(layer.folder):
                if found.st_mtime_ns > self.began_ns and _begins_as_junit(layer.folder / name):
                    yield layer, name

    def _led_away(self, folders: Mapping[Path, Path]) -> Iterator[str]:
        """Name the links of the tree that stand beside a report."""
        for layer in self.layers if folders else ():
            for out in _links_out(layer, self.began_ns):
                yield f"{out} is a link out of the checkout, and a report that goes there is lost: remove it"
        for folder, path in folders.items():
            links = (entry for entry in _listed(path) if entry.is_symlink() and entry.name.endswith(".xml"))
            for link in links:
                if link.stat(follow_symlinks=False).st_mtime_ns <= self.began_ns:
                    name = folder / link.name
                    yield f"{name} is a link, and a report that goes through it is lost: {_REMOVE}"


def watch(room: Room, marker: Path) -> FolderWatch:
    """Note what is there. `marker` is written: its time is what the disk gives to files from now on."""
    try:
        marker.write_bytes(b"")
        began_ns = marker.stat().st_mtime_ns
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {marker}: {error.strerror}") from error
    return FolderWatch(tuple(_noted(layer) for layer in _layers(room)), began_ns)


def _layers(room: Room) -> Sequence[OutputFolder]:
    overlays = room.grant.overlays if room.grant else ()
    if not overlays:
        return [OutputFolder(room.path, at=room.path)]
    # The first lower layer of the checkout is the tree; those of its ignored folders are the person's own.
    at = str(room.path)
    return [
        OutputFolder(Path(each.upper), Path(each.lower[0]), room.path)
        if each.at == at
        else OutputFolder(Path(each.upper))
        for each in overlays
    ]


def _noted(layer: OutputFolder) -> OutputFolder:
    try:
        return replace(layer, before=frozenset(name for name, _ in _documents(layer.folder)))
    except TooMuch:  # then there will be too much afterwards too
        return layer


def _documents(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the plain files that end in `.xml` below a folder, always in the same order."""
    for path, entry in _entries(root):
        if path.endswith(".xml") and entry.is_file(follow_symlinks=False):
            yield path, entry.stat(follow_symlinks=False)


def _entries(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All below a folder that is no folder itself, always in the same order."""
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
            else:
                yield path, entry


def _links_out(layer: OutputFolder, began_ns: int) -> Iterator[str]:
    """The links of the tree under test that lead out of the checkout; of a huge tree only the first."""
    roots = [root for root in (layer.folder, layer.tree) if root and layer.at]
    for root in roots:
        with suppress(TooMuch):
            for path, entry in _entries(root):
                is_old = entry.is_symlink() and entry.stat(follow_symlinks=False).st_mtime_ns <= began_ns
                if is_old and layer.at and _leads_out(layer.at, path, str(Path(entry.path).readlink())):
                    yield path


def _leads_out(at: Path, path: str, target: str) -> bool:
    """Return True if a link leads out of the checkout, by its text. Git's own folder counts as outside."""
    place = os.path.normpath(at / Path(path).parent / target)
    return not place.startswith(f"{at}/") or place.startswith(f"{at}/.git/") or place == f"{at}/.git"


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder by name. A folder that cannot be read has no report."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _begins_as_junit(path: Path) -> bool:
    with suppress(OSError), _opened(path) as file:
        return b"<testsuite" in file.read(HEAD_BYTES)
    return False


def _read(layer: OutputFolder, name: str) -> Tests:
    try:
        with _opened(layer.folder / name) as file:
            tests = read_document(file.read(MOST_BYTES))
    except BrokenReport as problem:
        raise BrokenReport(f"its report {name} cannot be read: {problem}") from problem
    if layer.held(name):
        raise BrokenReport(
            f"its report {name} does not count, because it existed before the check: {_REMOVE}"
        )
    return tests


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, _PLAIN), "rb")
