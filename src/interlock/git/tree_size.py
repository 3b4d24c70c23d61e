"""Counts the files of an agent's commits without expanding them: each tree object is read once.

Trees can name each other many times over, so that a dozen of them list a billion files. What git itself does
with such a commit has no end, so it is counted here first. Trees that the base has at the same path are
passed over: the cost follows the change, and not the repository.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from interlock.git import bounds
from interlock.git.command import Git
from interlock.git.place import Place
from interlock.model.errors import RejectedObjects

_FOLDER = b"40000"
_COMPARED = 5_000_000
"""Names in the folders that a history changes, over all of its commits: some seconds."""
_HEADER_BYTES = 100
"""The line that git prints before each object, at most."""


class _Entry(NamedTuple):
    name: bytes
    is_folder: bool
    object_id: str


class _Size(NamedTuple):
    """The size of a tree when it is checked out."""

    files: int
    depth: int
    path: bytes
    """The longest one in it."""


async def check_history(git: Git, place: Place, heads: Collection[str], base: str, base_tree: str) -> None:
    """Refuse commits that are more than a change: `heads`, and all between `base` and them."""
    feed = "".join(f"{word}\n" for word in (*sorted(heads), f"^{base}")).encode()
    room = bounds.COMMITS * (2 * place.id_bytes + 1)
    said = await git.run("rev-list", "--stdin", feed=feed, limit_bytes=room, ok=range(256))
    if said.cut:
        raise bounds.too_large("the agent made too many commits", f"{bounds.COMMITS:,} commits")
    if said.code:
        return  # something is missing or broken: the import says what
    objects = _Objects(git, place)
    trees = await objects.trees_of(said.line.split())
    files, fresh = await _changed(objects, trees, base_tree)
    await _measure(objects, {entry.object_id for _, _, entry in fresh})
    for tree, path, entry in fresh:
        size = objects.sizes[entry.object_id]
        files[tree] += size.files
        bounds.check_path(path + b"/" + size.path, path.count(b"/") + size.depth)
    for count in files.values():
        bounds.check_files(count)


async def _changed(
    objects: "_Objects", trees: Sequence[str], base_tree: str
) -> tuple[Counter[str], list[tuple[str, bytes, _Entry]]]:
    """For each tree: files that differ in folders that both have, and folders that the base has not."""
    files, fresh = Counter[str](), list[tuple[str, bytes, _Entry]]()
    pairs = [(tree, b"", tree, base_tree) for tree in trees]
    while pairs:  # a level of folders of all trees at a time: each takes a git process
        await objects.load({name for _, _, *both in pairs for name in both})
        below = []
        for tree, above, new, old in pairs:
            await asyncio.sleep(0)  # others go on between two folders
            before = {entry.name: entry for entry in objects.trees[old]}
            objects.count(len(before) + len(objects.trees[new]))
            for entry in objects.trees[new]:
                was = before.get(entry.name)
                if was == entry:
                    continue
                path = above + entry.name
                bounds.check_path(path, path.count(b"/"))
                if not entry.is_folder:
                    files[tree] += 1
                elif was is not None and was.is_folder:
                    below.append((tree, path + b"/", entry.object_id, was.object_id))
                else:
                    fresh.append((tree, path, entry))
        pairs = below
    return files, fresh


async def _measure(objects: "_Objects", roots: set[str]) -> None:
    """The size of each of these trees, from the leaves up. None is inside itself: its id is a hash of it."""
    wave, seen = roots - objects.sizes.keys(), set[str]()
    waiting, depth = list(wave), 0
    while wave:
        depth += 1
        if depth > bounds.DEPTH:
            raise bounds.too_large(
                f"it is more than {bounds.DEPTH:,} folders deep", f"{bounds.DEPTH:,} folders"
            )
        seen |= wave
        await objects.load(wave)
        wave = {name for tree in wave for name in objects.below(tree)} - seen - objects.sizes.keys()
    while waiting:
        missing = objects.below(waiting[-1]) - objects.sizes.keys()
        if missing:
            waiting += missing
        else:
            tree = waiting.pop()
            objects.sizes[tree] = _size(objects.trees[tree], objects.sizes)


def _size(entries: Iterable[_Entry], known: Mapping[str, _Size]) -> _Size:
    files, depth, longest = 0, 1, b""
    for entry in entries:
        path = entry.name
        if len(path) > bounds.NAME_BYTES:
            bounds.check_path(path, 0)
        if entry.is_folder:
            below = known[entry.object_id]
            files += below.files
            depth = max(depth, 1 + below.depth)
            path += (
                b"/" + below.path[: bounds.PATH_BYTES]
            )  # longer ones are refused: no need to know all of it
        else:
            files += 1
        longest = max(longest, path, key=len)
    return _Size(files, depth, longest)


@dataclass(slots=True)
class _Objects:
    """The agent's commits and trees, as they were read."""

    git: Git
    place: Place
    trees: dict[str, tuple[_Entry, ...]] = field(default_factory=dict)
    sizes: dict[str, _Size] = field(default_factory=dict)
    read_bytes: int = 0
    compared: int = 0

    def count(self, entries: int) -> None:
        self.compared += entries
        if self.compared > _COMPARED:
            raise bounds.too_large("its commits change too many folders", f"{_COMPARED:,} compared names")

    def below(self, tree: str) -> set[str]:
        """The trees that this one names."""
        return {entry.object_id for entry in self.trees[tree] if entry.is_folder}

    async def trees_of(self, commits: Iterable[str]) -> list[str]:
        """The tree of each commit, every one once."""
        texts = await self._read(list(commits), b"commit", bounds.COMMIT_BYTES)
        found = (text.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace") for text in texts)
        return [tree for tree in dict.fromkeys(found) if self.place.is_object_id(tree)]

    async def load(self, trees: Iterable[str]) -> None:
        wanted = [tree for tree in trees if tree not in self.trees]
        for tree, content in zip(wanted, await self._read(wanted, b"tree", bounds.TREE_BYTES), strict=True):
            self.trees[tree] = tuple(_parsed(content, self.place.id_bytes))

    async def _read(self, names: list[str], kind: bytes, most: int) -> list[bytes]:
        """The content of each; empty for what is missing or of another kind, which the import refuses."""
        room = bounds.TREE_BYTES - self.read_bytes + _HEADER_BYTES * len(names)
        objects = await self.git.objects(names, limit_bytes=room)
        if len(objects) < len(names):
            raise bounds.too_large("its commits list too many names", f"{bounds.TREE_BYTES:,} bytes")
        found = []
        for name, (read, content) in zip(names, objects, strict=True):
            self.read_bytes += len(content)
            if len(content) > most:
                what = f"the {kind.decode()} {name[:12]} has {len(content):,} bytes"
                raise bounds.too_large(what, f"{most:,} bytes")
            if read == kind and self.place.object_id(kind.decode(), content) != name:
                raise RejectedObjects(f"git rejected what the agent made: the object {name} is damaged")
            found.append(content if read == kind else b"")
        return found


def _parsed(content: bytes, id_bytes: int) -> Iterable[_Entry]:
    """The entries of a tree object; those of a broken one as far as they go."""
    at = 0
    while at < len(content):
        mode, _, _ = content[at : at + 8].partition(b" ")
        end = content.find(b"\0", at)
        if end < 0:
            return
        name = content[at + len(mode) + 1 : end]
        at = end + 1 + id_bytes
        yield _Entry(name, mode.lstrip(b"0") == _FOLDER, content[end + 1 : at].hex())
