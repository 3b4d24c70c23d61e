"""Makes trees and commits of changed files, as loose objects in a folder of our own, without any git process.

An index of everything would be read and written for one changed file: this costs what changed. Trees of the
repository are read once and remembered.
"""

import hashlib
import time
import uuid
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.place import Place

FOLDER, LINK = b"40000", b"160000"
REMEMBERED = 500_000
"""Entries of trees that are remembered."""
ROOM_BYTES = 64 << 20
"""The most that is read of trees at once."""


class Leaf(NamedTuple):
    """An entry of a tree."""

    mode: bytes
    object_id: str


@dataclass(slots=True)
class Plan:
    """Changes of a folder: of its files, and of the folders in it. None: it is gone."""

    entries: dict[bytes, "Plan | Leaf | None"] = field(default_factory=dict)
    is_fresh: bool = False
    """Nothing of what was there shows through."""


Changes: TypeAlias = Mapping[bytes, Leaf | None]


def planned(changes: Changes, fresh: Iterable[bytes] = ()) -> Plan:
    """The same changes, folder by folder. A file wins over what is said to be below it."""
    root = Plan()
    for path, leaf in sorted(changes.items()):
        *folders, name = path.split(b"/")
        if (plan := _reached(root, folders)) is not None:
            plan.entries.setdefault(name, leaf)
    for path in fresh:
        if (plan := _reached(root, path.split(b"/"))) is not None:
            plan.is_fresh = True
    return root


def _reached(plan: Plan, folders: Iterable[bytes]) -> Plan | None:
    for name in folders:
        below = plan.entries.get(name)
        if isinstance(below, Leaf):
            return None
        if below is None:
            # What is there again is not gone: only what is named in it shows.
            below = Plan(is_fresh=name in plan.entries)
            plan.entries[name] = below
        plan = below
    return plan


class TreeBuilder:
    """Trees of one repository, and those made from them."""

    def __init__(self, place: Place, git: Git) -> None:
        """`git` is on a git dir of our own, which borrows the objects of the repository."""
        self._place = place
        self._git = git
        self._objects = git.git_dir / "objects"
        self._trees: dict[str, dict[bytes, Leaf]] = {}
        self._size = 0
        self.written_bytes = 0

    def put(self, kind: str, content: bytes) -> str:
        """Store an object; its id."""
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.new(self._place.object_format, whole, usedforsecurity=False).hexdigest()
        path = self._objects / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            fresh = path.with_name(f"tmp_obj_{uuid.uuid4().hex}")
            fresh.write_bytes(zlib.compress(whole, 1))
            fresh.replace(path)
            self.written_bytes += len(content)
        return name

    def commit(self, tree: str, parent: str) -> str:
        """Store a commit that no branch gets. Its time is true: git searches merge bases by time."""
        person = f"Interlock <interlock@localhost> {int(time.time())} +0000"
        text = f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nradar\n"
        return self.put("commit", text.encode())

    async def load(self, tree: str, plan: Plan) -> None:
        """Read all trees that the plan leads through, a level at a time."""
        if self._size > REMEMBERED:
            self._trees.clear()
            self._size = 0
        level = [(tree, plan)]
        while level:
            await self._read({name for name, _ in level})
            level = [
                (known.object_id, below)
                for name, here in level
                for entry, below in here.entries.items()
                if isinstance(below, Plan)
                and (known := self._trees[name].get(entry))
                and known.mode == FOLDER
            ]

    async def _read(self, trees: Collection[str]) -> None:
        wanted = [tree for tree in trees if tree not in self._trees]
        objects = await self._git.objects(wanted, ROOM_BYTES)
        if len(objects) < len(wanted) or any(kind != b"tree" for kind, _ in objects):
            raise GitFailed("cat-file", "a tree is missing, or too large")
        for tree, (_, content) in zip(wanted, objects, strict=True):
            self._trees[tree] = dict(_entries(content, self._place.id_bytes))
            self._size += len(self._trees[tree])

    def build(self, tree: str, plan: Plan) -> tuple[str, frozenset[bytes]]:
        """The tree with these changes, and the paths that differ in it. Its trees have been loaded.

        A folder that is gone as a whole is one of these paths too.
        """
        touched = set[bytes]()
        return self._built(tree, plan, b"", touched) or self.put("tree", b""), frozenset(touched)

    def leaf(self, tree: str, path: bytes) -> Leaf | None:
        """The entry at a path, if its trees have been loaded."""
        *folders, name = path.split(b"/")
        for folder in folders:
            below = self._trees.get(tree, {}).get(folder)
            if below is None or below.mode != FOLDER:
                return None
            tree = below.object_id
        return self._trees.get(tree, {}).get(name)

    def _built(self, tree: str | None, plan: Plan, above: bytes, touched: set[bytes]) -> str | None:
        before = self._trees.get(tree, {}) if tree else {}
        entries = {} if plan.is_fresh else dict(before)
        for name, change in plan.entries.items():
            old = before.get(name)
            if old and old.mode == LINK and not isinstance(change, Leaf):
                entries[name] = old  # the files of a submodule
                continue
            new = self._changed(old, change, above + name, touched)
            if new:
                entries[name] = new
            else:
                entries.pop(name, None)
            is_other = new != old if isinstance(change, Leaf) else old and (not new or old.mode != FOLDER)
            if is_other:
                touched.add(above + name)
        touched.update(above + name for name in before.keys() - entries.keys())
        if entries == before:
            return tree
        return self.put("tree", _written(entries)) if entries else None

    def _changed(
        self, old: Leaf | None, change: Plan | Leaf | None, path: bytes, touched: set[bytes]
    ) -> Leaf | None:
        if not isinstance(change, Plan):
            return change
        below = old.object_id if old and old.mode == FOLDER else None
        made = self._built(below, change, path + b"/", touched)
        return Leaf(FOLDER, made) if made else None


def _entries(content: bytes, id_bytes: int) -> Iterable[tuple[bytes, Leaf]]:
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + id_bytes
        yield name, Leaf(mode, content[end + 1 : at].hex())


def _written(entries: Mapping[bytes, Leaf]) -> bytes:
    """A tree object. Git sorts a folder as if its name ended with a slash."""
    ordered = sorted(entries.items(), key=lambda each: each[0] + b"/" * (each[1].mode == FOLDER))
    return b"".join(b"%s %s\0%s" % (leaf.mode, name, bytes.fromhex(leaf.object_id)) for name, leaf in ordered)
