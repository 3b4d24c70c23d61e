"""Trees with only some of the files of another tree: what a check with declared inputs may see.

1. The same files give the same tree, whatever else is in the other one: its id is the key of the result.
2. A folder of which all is wanted is taken over as it is, and one in which nothing can match is not read. So
   the cost is that of the folders that are cut, two git processes for each level of them, and a folder that
   was cut before is known.
3. A link is taken over as a link. Where it leads out of the wanted files, it leads nowhere.
4. The attributes of each folder on the way to a wanted file are taken over too: they decide
   how git writes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.glob_walk import Walk, enter, step
from interlock.model.task import Tree

MOST_KNOWN, MOST_FOLDERS = 2_000, 50_000
_ATTRIBUTES = b".gitattributes"
_FILE, _FOLDER = b"100", b"40000"
_MODULE = b"160000"
_KINDS = {_FOLDER: b"tree", _MODULE: b"commit"}


def name_of(inputs: Sequence[str]) -> str:
    """Return a name for these globs that can stand in a path."""
    return sha256("\0".join(sorted({*inputs})).encode(errors="replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: bytes
    name: bytes
    id: str


@dataclass(slots=True)
class _Folder:
    """A folder that is cut: its entries that stay, and the folders in it that are cut too."""

    kept: list[_Entry] = field(default_factory=list)
    cut: list[tuple[bytes, "_Folder"]] = field(default_factory=list)
    attributes: list[_Entry] = field(default_factory=list)
    """Its `.gitattributes`, where that is not wanted by itself."""
    id: str = ""
    """Empty: nothing is left of it."""


_Cut = tuple[_Folder, str, Walk]
"""A folder, the tree that it is cut from, and how far the globs have come at it."""


class ReducedTrees:
    """Makes the trees of one repository, and remembers a bounded number of them."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known: dict[tuple[str, tuple[str, ...]], Tree] = {}
        self._folders: dict[tuple[str, Walk], str] = {}
        """The rest of folders that were cut."""

    async def tree(self, tree: Tree, inputs: Sequence[str]) -> Tree:
        """Return the tree with those files of `tree` that match one of the globs; without globs, `tree`."""
        key = (tree, tuple(sorted({*inputs})))
        if not inputs:
            return tree
        if key not in self._known:
            self._known[key] = await self._make(tree, enter(key[1]))
            while len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return self._known[key]

    async def _make(self, tree: Tree, walk: Walk) -> Tree:
        top = _Folder()
        levels: list[list[_Cut]] = [[(top, str(tree), walk)]]
        while below := await self._cut(levels[-1]):
            levels.append(below)
        for level in reversed(levels):
            await self._write([folder for folder, _, _ in level])
            self._folders |= {(id, reached): folder.id for folder, id, reached in level}
        if len(self._folders) > MOST_FOLDERS:
            self._folders.clear()
        return Tree(top.id or await self._empty())

    async def _cut(self, level: Sequence[_Cut]) -> list[_Cut]:
        """Sort out the entries of the folders of one level; return the folders below that are to be cut."""
        found = await self._place.git.objects([id for _, id, _ in level])
        below: list[_Cut] = []
        for (folder, id, walk), (kind, content) in zip(level, found, strict=True):
            if kind != b"tree":
                raise GitFailed("cat-file", f"{id} is no tree of this repository")
            for entry in _entries(content, len(id) // 2):
                reached = step(walk, entry.name.decode("utf-8", "surrogateescape"))
                if any(glob.is_whole for glob in reached) if entry.mode == _FOLDER else _is_file(reached):
                    folder.kept.append(entry)
                elif entry.mode == _FOLDER and reached:
                    inner = _Folder(id=self._folders.get((entry.id, reached), ""))
                    folder.cut.append((entry.name, inner))
                    if (entry.id, reached) not in self._folders:
                        below.append((inner, entry.id, reached))
                elif entry.name == _ATTRIBUTES and entry.mode.startswith(_FILE):
                    folder.attributes.append(entry)
        return below

    async def _write(self, level: Sequence[_Folder]) -> None:
        """Write the folders of one level. Those below them are written."""
        for folder in level:
            folder.kept += [_Entry(_FOLDER, name, inner.id) for name, inner in folder.cut if inner.id]
        left = [folder for folder in level if folder.kept]
        if left:
            entries = ((*folder.kept, *folder.attributes) for folder in left)
            feed = b"".join(b"".join(map(_line, each)) + b"\0" for each in entries)
            said = await self._place.git.run("mktree", "-z", "--batch", "--missing", feed=feed)
            for folder, id in zip(left, said.line.splitlines(), strict=True):
                folder.id = id

    async def _empty(self) -> str:
        return (await self._place.git.run("mktree", feed=b"")).line


def _is_file(reached: Walk) -> bool:
    return any(glob.is_match for glob in reached)


def _entries(content: bytes, id_bytes: int) -> Iterator[_Entry]:
    """The entries of a tree object."""
    at = 0
    while at < len(content):
        space, end = content.index(b" ", at), content.index(b"\0", at)
        ends = end + 1 + id_bytes
        yield _Entry(content[at:space], content[space + 1 : end], content[end + 1 : ends].hex())
        at = ends


def _line(entry: _Entry) -> bytes:
    kind = _KINDS.get(entry.mode, b"blob")
    return b"%s %s %s\t%s\0" % (entry.mode.rjust(6, b"0"), kind, entry.id.encode(), entry.name)
