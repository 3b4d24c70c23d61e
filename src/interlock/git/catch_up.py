"""Finishes what a crash left between a move of the protected branch and a checkout of it, by content.

Before the branch moved, no file that the move changes was edited. So each such file now holds

1. the new content: nothing is left to do,
2. the old content, nothing, or the beginning of the new content (a killed git process or a power cut leaves
   that): the new content is written. What is neither empty nor old is copied to `kept` before,
3. something else: a person edited it after the crash. It stays as it is. Until the person has merged it with
   what landed, nothing more lands, because a commit of it would take back what landed.

The index gets the new entries in all cases, so that no commit takes back what landed unnoticed.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from interlock.git.checkout import Worktree
from interlock.git.command import nul_ended
from interlock.git.files import folders_above
from interlock.git.follow import IndexCopy
from interlock.git.journal import Pending
from interlock.git.place import Place

_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in a tree or an index; without an object: not there."""

    mode: str = "0"
    object: str = ""


@dataclass(frozen=True, slots=True)
class _Indexed:
    entry: _Entry = _Entry()
    skipped: bool = False
    """A sparse checkout does not have it."""


@dataclass(frozen=True, slots=True)
class _Change:
    path: bytes
    old: _Entry
    new: _Entry


class _Holds(Enum):
    NEW = auto()
    OLD = auto()
    PART = auto()
    OTHER = auto()


class MergeUnderWay(Exception):
    """A person is in the middle of a merge in this checkout."""


@dataclass(slots=True)
class _Plan:
    write: list[bytes] = field(default_factory=list)
    remove: list[bytes] = field(default_factory=list)
    index: list[_Change] = field(default_factory=list)
    edited: dict[str, str] = field(default_factory=dict)


class CatchUp:
    """One checkout that has to follow a move that was interrupted."""

    def __init__(self, place: Place, tree: Worktree, pending: Pending, lock: int | None = None) -> None:
        self._place = place
        self._tree = tree
        self._pending = pending
        self._copy = IndexCopy(tree, lock)
        self._root = os.fsencode(tree.path)
        self._kept = place.state / "kept" / pending.new[:12]

    async def finish(self) -> dict[str, str]:
        """Bring it along. Returns the files that a person has to merge: see `Pending.edited`."""
        indexed = await self._indexed()  # first: git reads the index also where it is not needed
        changes = await self._changes()
        if self._pending.edited:
            return await self._still_edited(changes, indexed)
        plan = await self._planned(changes, indexed)
        if plan.index or plan.write or plan.remove:
            await self._carry_out(plan, indexed)
        return plan.edited

    async def edited_since(self, paths: Collection[bytes]) -> list[str]:
        """List those of these files that hold neither the old content nor the new."""
        changes = [change for change in await self._move() if change.path in paths]
        return [os.fsdecode(it.path) for it in changes if await self._holds(it) is _Holds.OTHER]

    async def _changes(self) -> list[_Change]:
        """List the changes of the move, as far as the commit that is checked out has them."""
        new = self._pending.new
        head = (await self._tree.git.run("rev-parse", "--verify", "HEAD^{commit}")).line
        since = {each.path for each in await self._place.git.changes(new, head)} if head != new else set()
        return [change for change in await self._move() if change.path not in since]

    async def _move(self) -> list[_Change]:
        changes = await self._place.git.changes(self._pending.old, self._pending.new)
        return [_Change(it.path, _entry(it.old_mode, it.old), _entry(it.mode, it.new)) for it in changes]

    async def _indexed(self) -> dict[bytes, _Indexed]:
        if not self._is_index_whole():
            await self._rebuild_index()
        said = await self._tree.git.run("ls-files", "-s", "-v", "-z")
        return dict(_indexed(item) for item in said.out.split(b"\0") if item)

    def _is_index_whole(self) -> bool:
        """Git itself does not compare the checksum. Without one (`index.skipHash`) there are zeros."""
        try:
            content = (self._tree.git_dir / "index").read_bytes()
        except FileNotFoundError:
            return True
        size = self._place.id_bytes
        checksum = hashlib.new(self._place.object_format, content[:-size], usedforsecurity=False).digest()
        return content[:4] == b"DIRC" and content[-size:] in (checksum, bytes(size))

    async def _rebuild_index(self) -> None:
        """A power cut may have left an index that git cannot read: keep it, and make one from the commit."""
        index = self._tree.git_dir / "index"
        self._kept.mkdir(parents=True, exist_ok=True)
        index.replace(self._kept / "index")
        self._copy.remove()
        await self._copy.git.run("read-tree", "HEAD")
        await self._copy.git.run("update-index", "-q", "--refresh", ok=(0, 1))
        await self._copy.install(())

    async def _still_edited(
        self, changes: Sequence[_Change], indexed: dict[bytes, _Indexed]
    ) -> dict[str, str]:
        """The files whose edit a person has neither staged since nor given up."""
        left = {}
        for change in changes:
            name = self._name(change.path)
            staged = indexed.get(change.path, _Indexed()).entry.object
            if self._pending.edited.get(name) == staged and await self._holds(change) is not _Holds.NEW:
                left[name] = staged
        return left

    async def _planned(self, changes: Sequence[_Change], indexed: dict[bytes, _Indexed]) -> _Plan:
        plan = _Plan()
        for change in sorted(changes, key=lambda change: bool(change.new.object)):  # removals make room
            known = indexed.get(change.path, _Indexed())
            staged_by_person = known.entry not in (change.old, change.new)
            if not staged_by_person and known.entry != change.new:
                plan.index.append(change)
            if known.skipped or _SUBMODULE in (change.old.mode, change.new.mode):
                continue
            holds = await self._holds(change, plan.remove)
            if holds in (_Holds.OLD, _Holds.PART) and not staged_by_person:
                (plan.write if change.new.object else plan.remove).append(change.path)
            elif change.new.object and _must_merge(holds, known.entry, change):
                # What the move removes is untracked now, and no commit takes it along.
                staged = known.entry if staged_by_person else change.new
                plan.edited[self._name(change.path)] = staged.object
        return plan

    async def _holds(self, change: _Change, gone: Collection[bytes] = ()) -> _Holds:
        """Return the content of the file in the checkout; `gone` are files that will be removed before."""
        path = os.path.join(self._root, change.path)  # noqa: PTH118 - names from git are bytes
        for parent in folders_above(change.path):
            if _is_no_folder(os.path.join(self._root, parent)):  # noqa: PTH118 - bytes again
                absent = parent in gone or not change.new.object
                return _absent(change) if absent else _Holds.OTHER
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return _absent(change)
        if stat.S_ISDIR(found.st_mode):
            return _absent(change) if _files(self._root, change.path) <= set(gone) else _Holds.OTHER
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
            return _Holds.OTHER
        content = await asyncio.to_thread(_read, path, found.st_mode)
        held = await self._entry(change, content, found.st_mode)
        if held == change.new:
            return _Holds.NEW
        if held.object in (change.old.object, change.new.object):
            return _Holds.OLD
        return _Holds.PART if await self._is_part(change, content) else _Holds.OTHER

    async def _entry(self, change: _Change, content: bytes, mode: int) -> _Entry:
        if stat.S_ISLNK(mode):
            return _Entry("120000", self._place.object_id("blob", content))
        kind = "100755" if mode & stat.S_IXUSR else "100644"
        plain = self._place.object_id("blob", content)
        if plain in (change.old.object, change.new.object):
            return _Entry(kind, plain)
        # With the person's filters and line endings, the file differs from what is committed.
        words = ("hash-object", "--stdin", f"--path={os.fsdecode(change.path)}")
        return _Entry(kind, (await self._tree.git.run(*words, feed=content)).line)

    async def _is_part(self, change: _Change, content: bytes) -> bool:
        """Return True for the beginning of the new content, perhaps followed by blocks of zeros."""
        if not content or not change.new.object:
            return not content
        name = os.fsdecode(change.path)
        said = await self._tree.git.run("cat-file", "--filters", f"--path={name}", change.new.object)
        if not said.out.startswith(content.rstrip(b"\0")):
            return False
        kept = self._kept / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
        return True

    async def _carry_out(self, plan: _Plan, indexed: dict[bytes, _Indexed]) -> None:
        git = self._copy.make().git
        try:
            if entries := b"".join(_index_line(change) for change in plan.index):
                await git.run("update-index", "-z", "--index-info", feed=entries)
            skipped = [change.path for change in plan.index if indexed.get(change.path, _Indexed()).skipped]
            if skipped:
                await git.run("update-index", "--skip-worktree", "-z", "--stdin", feed=nul_ended(skipped))
            for path in plan.remove:
                _remove(self._root, path)
            if plan.write:
                await git.run("checkout-index", "-f", "-u", "-q", "-z", "--stdin", feed=nul_ended(plan.write))
            await git.run("update-index", "-q", "--refresh", ok=(0, 1))
            await self._copy.install((*plan.write, *plan.remove, *(change.path for change in plan.index)))
        finally:
            self._copy.remove()

    def _name(self, path: bytes) -> str:
        return str(self._tree.path / os.fsdecode(path))


def _entry(mode: str, name: str) -> _Entry:
    return _Entry(mode, name) if name.strip("0") else _Entry()


def _indexed(item: bytes) -> tuple[bytes, _Indexed]:
    """Parse `H 100644 OBJECT 0<tab>path`."""
    words, _, path = item.partition(b"\t")
    tag, mode, name, stage = words.decode().split(" ")
    if stage != "0":
        raise MergeUnderWay
    return path, _Indexed(_entry(mode, name), skipped=tag.upper() == "S")


def _index_line(change: _Change) -> bytes:
    name = change.new.object or "0" * len(change.old.object)
    return f"{change.new.mode} {name}\t".encode() + change.path + b"\0"


def _absent(change: _Change) -> _Holds:
    return _Holds.OLD if change.new.object else _Holds.NEW


def _must_merge(holds: _Holds, staged: _Entry, change: _Change) -> bool:
    """Return True if a person edited the file, or staged an edit, on top of the old content."""
    return staged not in (change.old, change.new) or (holds is _Holds.OTHER and staged == change.old)


def _is_no_folder(path: bytes) -> bool:
    """Return True if the path is not a folder. A link to a folder would lead out of the checkout."""
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _files(root: bytes, folder: bytes) -> set[bytes]:
    found = set()
    for above, _, names in os.walk(os.path.join(root, folder)):  # noqa: PTH118 - bytes again
        joined = (os.path.join(above, name) for name in names)  # noqa: PTH118 - bytes again
        found |= {os.path.relpath(path, root) for path in joined}
    return found


def _read(path: bytes, mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return os.readlink(path)  # noqa: PTH115 - bytes again
    return Path(os.fsdecode(path)).read_bytes()


def _remove(root: bytes, path: bytes) -> None:
    """Remove a file, and the folders that are empty without it, as git does."""
    Path(os.fsdecode(os.path.join(root, path))).unlink(missing_ok=True)  # noqa: PTH118 - bytes again
    for parent in folders_above(path):
        try:
            os.rmdir(os.path.join(root, parent))  # noqa: PTH106, PTH118 - bytes again
        except OSError:
            return
