"""Looks at the files of a change before it may land: leaves out what no person would commit, finds secrets.

1. Nothing is lost: the commit without the unwanted files is a child of the agent's own, under the same ref.
2. No secret leaves this file: a finding is a path, a line and the name of a rule.
3. The ignore rules are those of the person and of the base: a change cannot alter the rules it is judged by.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from interlock.git.command import Difference, Git
from interlock.git.files import SCRATCH
from interlock.git.place import Place
from interlock.model.secrets import Secret, find_secrets
from interlock.model.task import Commit
from interlock.model.unwanted import (
    LandingRules,
    Leak,
    LeftOut,
    NewFile,
    ScreenedChange,
    build_folders,
    left_out,
)

_READ_BYTES = 16 << 20
"""The most that is in memory at once. Larger files are judged by name and size, not searched for secrets."""
_HEAD_BYTES = 4096
_SUBMODULE = "160000"
_LINK = "120000"


class _Seen(NamedTuple):
    """The parts of a file that are remembered after reading it."""

    head: bytes
    secrets: tuple[Secret, ...]


class Screening:
    """Judges the changes of one repository."""

    def __init__(self, place: Place, rules: LandingRules) -> None:
        self._place = place
        self._git = place.git
        self._rules = rules

    async def screen(self, base: Commit, work: Commit, ref: str) -> ScreenedChange:
        """Return the part of `work`, which `ref` keeps, that may land as a change of `base`."""
        every = await self._git.changes(base, work, "-M")
        changes = [each for each in every if each.mode != _SUBMODULE]
        sizes = await self._sizes(change.new for change in changes)
        seen = {object_id: _look(text) async for object_id, text in self._contents(sizes)}
        added = [change for change in changes if change.status == "A"]
        unwanted = await self._unwanted(base, work, added, sizes, seen)
        kept = [change for change in changes if change.name not in unwanted]
        leaks = await self._leaks(changes, kept, seen)
        out = tuple(dict.fromkeys(unwanted.values()))
        if unwanted:
            work = await self._without(
                work, [change.path for change in added if change.name in unwanted], ref
            )
        moved = tuple(each.name for each in every if _SUBMODULE in (each.old_mode, each.mode))
        return ScreenedChange(work, out, frozenset(unwanted), leaks, moved)

    async def read(self, commit: Commit, path: str) -> bytes | None:
        """A file of a commit: empty if it is not there, None if it is too large or a link."""
        literal = self._git.having(GIT_LITERAL_PATHSPECS="1")
        words = ("--full-tree", "--format=%(objectmode)", commit, "--", path)
        if (await literal.run("ls-tree", *words, ok=(0, 128))).line == _LINK:
            return None  # its blob is a name, and programs read the file of that name
        said = await self._git.run(
            "cat-file", "blob", f"{commit}:{path}", limit_bytes=_READ_BYTES, ok=(0, 128)
        )
        return None if said.cut else said.out

    async def _sizes(self, objects: Iterable[str]) -> dict[str, int]:
        wanted = [name for name in dict.fromkeys(objects) if name.strip("0")]
        if not wanted:
            return {}
        feed = "".join(f"{name}\n" for name in wanted).encode()
        said = await self._git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", feed=feed)
        pairs = (line.split() for line in said.line.splitlines())
        # One that is missing belongs to a partial clone: it is old, and all that is new is here.
        return {name: int(size) for name, size in pairs if size.isdigit()}

    async def _contents(self, sizes: Mapping[str, int]) -> AsyncIterator[tuple[str, bytes]]:
        """Each object that is not too large, a few of them at a time."""
        for some in _portions(sizes):
            for name, (_, content) in zip(some, await self._git.objects(some), strict=True):
                yield name, content

    async def _unwanted(
        self,
        base: str,
        work: str,
        added: Sequence[Difference],
        sizes: Mapping[str, int],
        seen: Mapping[str, _Seen],
    ) -> dict[str, LeftOut]:
        if not added:
            return {}
        files = [
            NewFile(file.name, sizes[file.new], seen[file.new].head if file.new in seen else b"")
            for file in added
        ]
        ignored, products = await asyncio.gather(
            self._ignored(base, [file.path for file in added]), self._products(base, work, files)
        )
        return left_out(files, self._rules, ignored, products)

    async def _ignored(self, base: str, paths: Sequence[bytes]) -> Collection[str]:
        """Find paths that the user's own ignore rules exclude and no `.gitignore` of the base includes."""
        if not any(line.strip() and not line.startswith("#") for line in self._place.excludes.splitlines()):
            return ()
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
            user = Git(self._place.common_dir, Path(folder), as_user=True)
            hits = await user.ignored(paths)
            if hits:
                await self._write_ignore_files(base, hits, Path(folder))
                hits = await user.ignored(hits)
        return {path.decode("utf-8", "backslashreplace") for path in hits}

    async def _write_ignore_files(self, base: str, paths: Iterable[bytes], where: Path) -> None:
        above = (path.decode("utf-8", "surrogateescape").split("/")[:-1] for path in paths)
        folders = {"/".join([*parts[:depth], ""]) for parts in above for depth in range(len(parts) + 1)}
        names = sorted(f"{folder}.gitignore" for folder in folders if folder.isprintable())
        ids = dict(zip(names, await self._git.names(*(f"{base}:{name}" for name in names)), strict=True))
        sizes = await self._sizes(object_id for object_id in ids.values() if object_id)
        texts = {object_id: text async for object_id, text in self._contents(sizes)}
        for name, object_id in ids.items():
            if object_id in texts:
                (where / name).parent.mkdir(parents=True, exist_ok=True)
                (where / name).write_bytes(texts[object_id])

    async def _products(self, base: str, work: str, files: Sequence[NewFile]) -> Collection[str]:
        """Folders of build output: the base has no file in them, and what builds them is beside them."""
        found = set[str]()
        for folder, builders in build_folders(file.path for file in files).items():
            above = folder.rpartition("/")[0]
            beside = (f"{work}:{above}/{name}" if above else f"{work}:{name}" for name in builders)
            tracked, *there = await self._git.names(f"{base}:{folder}", *beside)
            if tracked is None and any(there):
                found.add(folder)
        return found

    async def _leaks(
        self, changes: Sequence[Difference], kept: Sequence[Difference], seen: Mapping[str, _Seen]
    ) -> tuple[Leak, ...]:
        suspects = [
            change
            for change in kept
            if change.new in seen and seen[change.new].secrets and not self._rules.allow(change.name)
        ]
        if not suspects:
            return ()
        # What the base has in any of these files is not new, and may just have moved.
        before = self._contents(await self._sizes(change.old for change in changes))
        known = b"\n".join([text async for _, text in before])
        now = self._contents(await self._sizes(change.new for change in suspects))
        fresh = {name: tuple(find_secrets(text, known)) async for name, text in now}
        return tuple(Leak(change.name, *secret) for change in suspects for secret in fresh[change.new])

    async def _without(self, work: str, paths: Sequence[bytes], ref: str) -> Commit:
        """A commit on top of `work` that has not these files; the ref leads to both."""
        zero = b"0" * len(work)
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
            git = self._git.having(GIT_INDEX_FILE=str(Path(folder) / "index"))
            await git.run("read-tree", work)
            entries = b"".join(b"0 %s\t%s\0" % (zero, path) for path in paths)
            await git.run("update-index", "-z", "--index-info", feed=entries)
            tree = (await git.run("write-tree")).line
        message = b"Leave out files that are not to land\n"
        made = (await self._git.run("commit-tree", tree, "-p", work, feed=message)).line
        if ref:
            await self._git.run("update-ref", ref, made)
        return Commit(made)


def _look(content: bytes) -> _Seen:
    return _Seen(content[:_HEAD_BYTES], tuple(find_secrets(content)))


def _portions(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    some, total = list[str](), 0
    for name, size in sizes.items():
        if size > _READ_BYTES:
            continue
        if some and total + size > _READ_BYTES:
            yield some
            some, total = [], 0
        some.append(name)
        total += size
    if some:
        yield some
