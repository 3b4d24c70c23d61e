"""The layers that come from the user's checkout, found once for a run: see `ignored`."""

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import stat
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from interlock.git.attempt import AttemptFolder
from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import remove_tree
from interlock.git.ignored import (
    MOST_LOOKED_AT,
    Ignored,
    Layer,
    copy_files,
    is_cache,
    is_dependency,
    look_for_ignored,
    look_in_submodule,
)
from interlock.git.include import fingerprint, include
from interlock.git.making import write_trusted
from interlock.git.modules import (
    Module,
    Modules,
    find_modules,
    has_modules,
    head_of,
    write_modules,
)
from interlock.git.place import Place


@dataclass(frozen=True, slots=True)
class Shown:
    """Files that workspaces show beside those of git."""

    folder: Path
    """One more lower layer: copies of single files, and an empty folder for each layer to be mounted on."""
    layers: tuple[Layer, ...]
    has_products: bool = False
    """True if some of it may have been built from the checkout's own files."""
    stamps: tuple[str, ...] = ()
    """Single files without content: all that they say is when something was done."""
    submodules: tuple[str, ...] = ()
    """The submodules of the branch that are here."""
    in_submodules: tuple[Layer, ...] = ()
    """Folders in them that git ignores, as the checkout has them: they are part of the digest."""


Built = Callable[[str], Awaitable[Shown | None]]
"""Returns the layers that a set-up has made for a tree."""


async def nothing_built(_tree: str) -> Shown | None:
    return None


class CheckoutLayers:
    """Finds and keeps these layers for one process."""

    def __init__(self, place: Place, may_include: Callable[[str], bool] = lambda _: True) -> None:
        self._place = place
        self._may_include = may_include
        self._home = place.state / "beside"
        self._shown: Shown | None = None
        self._modules = Modules(place)
        self._written: dict[tuple[Path, tuple[Module, ...]], tuple[Layer, ...]] = {}
        """The layers of submodules that are written, by the folder of the layers that they are beside."""
        self._content: tuple[Shown, str] | None = None
        """A digest of what was shown when it was found."""
        self._locks: list[int] = []
        """Locks of earlier layers too: a workspace may be mounted over them."""
        self._one_at_a_time = asyncio.Lock()

    async def look(self) -> Shown:
        """Return the layers. They are searched again when a folder is gone, or after `forget`."""
        async with self._one_at_a_time:
            if self._shown is None or not all(layer.source.is_dir() for layer in self._shown.layers):
                self._shown = await self._find()
            return self._shown

    async def look_for(self, tree: str, named_by: str = "") -> tuple[Layer, ...]:
        """Return the submodules of a tree as layers, each before what is built in it; see `Modules.of`."""
        modules = await self._modules.of(tree, named_by)
        if not modules:
            return ()
        shown = await self.look()
        async with self._one_at_a_time:
            key = (shown.folder, modules)
            if key not in self._written:
                self._written[key] = await self._write(shown.folder.parent, modules)
            return self._written[key]

    async def _write(self, home: Path, modules: tuple[Module, ...]) -> tuple[Layer, ...]:
        folder = home / "modules" / uuid.uuid4().hex[:12]
        try:
            await write_modules(self._place, modules, folder, folder.with_suffix(".git"))
            outermost = [each for each in modules if not _is_within(each, modules)]
            layers = [Layer(each.path, folder / each.path) for each in outermost]
            for module in modules:
                layers += await _built_in(module, folder / module.path)
        except BaseException:
            await asyncio.to_thread(remove_tree, folder)
            raise
        return tuple(layers)

    async def copy_modules(self, tree: str, target: Path, scratch: Path, named_by: str = "") -> None:
        """Write the submodules of a tree to a workspace that is a copy."""
        await write_modules(self._place, await self._modules.of(tree, named_by), target, scratch)

    async def digest(self) -> str:
        """Return a digest of the content. The first call looks at every file; after that only a new list of
        the layers does, and folders of dependencies are looked at from above."""
        shown = await self.look()
        if self._content is None or self._content[0] is not shown:
            self._content = (shown, await asyncio.to_thread(_content, shown))
        parts = [self._content[1], *(mark for layer in shown.layers for mark in _installed(layer.source))]
        return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()

    def forget(self) -> None:
        """The checkout's dependencies may have changed: look again for the next workspace."""
        self._shown = None
        self._modules.forget()

    async def close(self) -> None:
        self.forget()
        if self._locks:
            while self._locks:
                os.close(self._locks.pop())
            await asyncio.to_thread(self._sweep)

    async def _find(self) -> Shown:
        home, lock = await asyncio.to_thread(_made_and_locked, self._home)
        folder = home / "files"
        self._locks.append(lock)
        folder.mkdir()
        if len(self._locks) == 1:
            await asyncio.to_thread(self._sweep)
        found = await look_for_ignored(self._place)
        await include(self._place, folder, self._may_include)
        if self._place.work_tree:
            await asyncio.to_thread(copy_files, self._place.work_tree, found.files, folder)
        for name in (".git", *(layer.path for layer in found.layers)):
            (folder / name).mkdir(parents=True, exist_ok=True)
        products = bool(found.files) or not all(is_dependency(layer.source) for layer in found.layers)
        stamps = tuple(name for name in found.files if _is_empty(folder / name))
        modules = await self._of_branch()
        inside = [layer for each in modules for layer in (await _ignored_in(each)).layers]
        paths = tuple(each.path for each in modules)
        return Shown(folder, found.layers, products, stamps, paths, tuple(inside))

    async def _of_branch(self) -> tuple[Module, ...]:
        if not has_modules(self._place):
            return ()
        try:
            found = await find_modules(self._place, self._place.ref, self._place.ref)
        except GitFailed:  # said where the tree is needed
            return ()
        return tuple(each for each in found if each.repository)

    def _sweep(self) -> None:
        """Remove what processes that are gone have left."""
        for folder in self._home.glob("*"):
            with contextlib.suppress(OSError), _opened(folder) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(folder)


def _is_within(module: Module, others: Iterable[Module]) -> bool:
    return any(module.path.startswith(f"{other.path}/") for other in others)


async def _built_in(module: Module, folder: Path) -> list[Layer]:
    """Return what git ignores in the person's checkout of a submodule, if that is at the same commit: folders
    as layers, which get a place in `folder`, and single files as copies there."""
    found = await _ignored_in(module)
    if module.checkout:
        await asyncio.to_thread(copy_files, module.checkout, found.files, folder)
    for layer in found.layers:
        (folder / layer.path).mkdir(parents=True, exist_ok=True)
    return [replace(layer, path=f"{module.path}/{layer.path}") for layer in found.layers]


async def _ignored_in(module: Module) -> Ignored:
    if module.git is None or module.checkout is None or await head_of(module) != module.commit:
        return Ignored()
    return await look_in_submodule(module.git, module.checkout)


def _content(shown: Shown) -> str:
    """Digest of single files by content, and of the files in layers by size and times."""
    found, left = hashlib.sha256(), MOST_LOOKED_AT
    for path in sorted(shown.folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            said = f"{path.relative_to(shown.folder)} {path.lstat().st_mode} {fingerprint(path)}\n"
            found.update(said.encode(errors="replace"))
    found.update(f"{shown.submodules}\n".encode(errors="replace"))
    for layer in (*shown.layers, *shown.in_submodules):
        found.update(f"{layer.path} {layer.hidden}\n".encode(errors="replace"))
        for mark in islice(_files_in(layer.source), max(left, 0)):
            found.update(mark.encode(errors="replace"))
            left -= 1
    return found.hexdigest() if left > 0 else uuid.uuid4().hex


def _files_in(folder: Path) -> Iterator[str]:
    """The files below a folder, with their sizes and times; not those of caches."""
    waiting = [str(folder)]
    while waiting:
        above = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(above) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                if is_cache(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                yield f"{entry.path}{_times(entry)}\n"


def _times(entry: os.DirEntry[str]) -> str:
    """The properties that change with the content; of a folder only its mode, for its entries are read."""
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return ""
    if stat.S_ISDIR(seen.st_mode):
        return f" {seen.st_mode}"
    return f" {seen.st_mode} {seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns}"


def _installed(folder: Path) -> Iterator[str]:
    """Files that a program that installs dependencies writes in their folder."""
    if is_dependency(folder):
        for path in (folder, *sorted(folder.glob("*")), *sorted(folder.glob("lib/*/site-packages"))):
            with contextlib.suppress(OSError):
                if not is_cache(path.name):
                    yield f"{path} {path.lstat().st_mtime_ns}"


def _is_empty(path: Path) -> bool:
    """Return True for a file without content, unless it is one that Python looks for."""
    return path.is_file() and path.stat().st_size == 0 and path.suffix not in (".py", ".pyi", ".typed")


def _made_and_locked(home: Path) -> tuple[Path, int]:
    """Make a folder, again if another process has swept it away before it was locked."""
    while True:
        folder = home / uuid.uuid4().hex[:12]
        folder.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError), _opened(folder) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if os.fstat(lock).st_nlink:
                return folder, os.dup(lock)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# Layers of a set-up: the files that it made and that git does not track.

_NOTE = "built.json"


async def take_built(place: Place, room: Path, target: Path) -> None:
    """Move what was made in a room's upper layer to `target`, in the form that `read_built` knows."""
    folder = AttemptFolder(room)
    write_trusted(place, folder)
    git = Git(folder.trusted, folder.tree).having(GIT_INDEX_FILE=str(folder.index))
    said = await git.run("ls-files", "-o", "--directory", "-z", limit_bytes=64 << 20)
    names = [os.fsdecode(name).rstrip("/") for name in said.out.split(b"\0") if name]
    await asyncio.to_thread(_move, folder.tree, [name for name in names if not is_cache(name)], target)


def read_built(target: Path) -> Shown | None:
    """The layers of an earlier set-up, if it is there."""
    try:
        names = json.loads((target / _NOTE).read_bytes())
        layers = tuple(Layer(name, target / "layers" / name) for name in names)
    except (OSError, ValueError, TypeError):
        return None
    return Shown(target / "beside", layers)


def _move(upper: Path, names: list[str], target: Path) -> None:
    """Folders become layers; single files go to the folder that is one layer for all of them."""
    folders = []
    for name in names:
        kind = (upper / name).lstat().st_mode
        if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
            continue  # the mark of the overlay for a file that was removed
        place = target / ("layers" if stat.S_ISDIR(kind) else "beside") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        (upper / name).rename(place)
        if stat.S_ISDIR(kind):
            folders.append(name)
            (target / "beside" / name).mkdir(parents=True, exist_ok=True)
    (target / "beside").mkdir(parents=True, exist_ok=True)
    (target / _NOTE).write_text(json.dumps(folders))
