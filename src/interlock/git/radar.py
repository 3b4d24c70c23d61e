"""Merges what agents have written so far, in memory: with main, and with each other.

1. The workspaces are only read (`scan`), and no git runs in them: no lock, no filter, no hook, no attribute
   of theirs counts. What is read becomes objects in a git dir of our own, which borrows those of the
   repository and is removed at the end.
2. Each workspace is first merged with main. The result of that is compared with the others, so that a change
   of main that one of them has and the other has not is never taken for their own.
3. Two of them are merged only if they touch a path in common, or one a folder that the other one moved or
   removed as a whole. No other two can conflict: git merges path by path, and follows a renamed file or
   folder from its old path, which is touched.
4. The ignore rules of main decide which new files count.
5. All merges of one look are one `git merge-tree --stdin`. It cannot stay for the next look: git keeps its
   answers back until it has 4 KiB of them, or its input ends.
"""

import asyncio
import os
import re
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from interlock.git.attempt import AttemptFolder, DamagedNote, WorkspaceOpened
from interlock.git.command import Git, to_the_end
from interlock.git.errors import GitFailed
from interlock.git.files import folders_above, remove_tree
from interlock.git.ignore_rules import IgnoreRules
from interlock.git.layout import write_git_dir
from interlock.git.place import Place
from interlock.git.scan import Scan
from interlock.git.sight import Sight
from interlock.git.tree_build import TreeBuilder
from interlock.model.errors import RejectedObjects
from interlock.model.radar import MAIN, Overlap, Queued, Sighting
from interlock.model.task import AttemptKey, Commit

MERGE_SHARE = 0.02
"""The share of one processor for git: after a second of merges none follows for fifty."""
MERGE_SECONDS = 10.0
"""The time limit of all merges of one look, and of a single one if that is not enough."""
SHOWN = 10
"""The most paths of an overlap that are named."""
FOLDER = "radar"
"""Below the state folder."""
STRIKES = 5
"""After so many failures two commits count as changes that git cannot merge."""
KEPT_BYTES, KEPT_OBJECTS = 256 << 20, 25_000
"""The most that may be in the scratch folder before it is made anew."""
MERGE = ("merge-tree", "--write-tree", "--stdin", "--name-only", "--no-messages")
_ON_MAIN = AttemptKey(MAIN, 0)
_SIDE = re.compile(r"~[0-9a-f]{40,64}(_\d+)?$")
"""The sign that git adds to the name of a file where the other side has a folder."""


class Merged(NamedTuple):
    """The result of one merge."""

    tree: str
    paths: tuple[str, ...] = ()
    """Those that conflict."""


class Side(NamedTuple):
    """A change that is compared with others."""

    commit: str
    base: str
    touched: frozenset[bytes]
    is_running: bool


class MergeRadar:
    """Looks at the running workspaces of one repository."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._home = place.state / FOLDER
        self._sights: dict[AttemptKey, Sight] = {}
        self._merges: dict[tuple[str, str], Merged | None] = {}
        """Results, by the two commits; None: git cannot merge them at all."""
        self._strikes = Counter[tuple[str, str]]()
        """Merges that failed."""
        self._used: dict[tuple[str, str], Merged | None] = {}
        """Those that the look under way has asked for."""
        self._landed: dict[tuple[str, str], str] = {}
        """Changes as commits on main, by change and main."""
        self._known: dict[str, frozenset[str]] = {}
        """The files of a tree."""
        self._scratch: Path | None = None
        self._main = Commit("")
        """Main at the last look."""
        self._merge_at = 0.0

    async def look(
        self, running: Collection[AttemptKey], queued: Collection[Queued], main: Commit
    ) -> Sighting | None:
        """Return all overlaps as they are now; what has not changed since the last look is not read again.

        None: the last merges took so long that it is too soon for more.
        """
        if time.monotonic() < self._merge_at:
            return None
        await self._prepare(main)
        await self._follow(running)
        due = [sight for sight in self._sights.values() if sight.due <= time.monotonic()]
        found = await to_the_end(asyncio.to_thread(lambda: [each.look(len(self._sights)) for each in due]))
        for sight, scan in zip(due, found, strict=True):
            if scan is not None:
                await self._take(sight, scan)
        unseen = {key.task: sight.why_unseen for key, sight in self._sights.items() if sight.why_unseen}
        return Sighting(await self._overlaps(queued, main), unseen)

    async def _take(self, sight: Sight, found: Scan) -> None:
        try:
            await sight.take(found, self._trees, self._rules)
        except (GitFailed, RejectedObjects) as problem:
            sight.lose(str(problem))

    async def close(self) -> None:
        """Remove what the looks have made."""
        await asyncio.to_thread(remove_tree, self._home)

    async def _prepare(self, main: Commit) -> None:
        if self._scratch is None or self._is_full():
            self._scratch = self._home / uuid.uuid4().hex[:12]
            await asyncio.to_thread(self._make, self._scratch)
            for cache in (self._merges, self._landed):
                cache.clear()
            self._strikes.clear()
            self._main = Commit("")
            for sight in self._sights.values():
                sight.forget()
        if main == self._main:
            return
        tree = (await self._git.names(f"{main}^{{tree}}"))[0] if main else None
        if tree and await self._rules.follow(tree):
            for sight in self._sights.values():
                sight.forget()
        self._main = main

    def _make(self, scratch: Path) -> None:
        """Make a new scratch folder in place of the last one, and of one that a crash has left."""
        remove_tree(self._home)
        write_git_dir(scratch, self._place, "ref: refs/heads/none", [str(self._place.objects)])
        (scratch / "rules").mkdir()
        self._git = Git(scratch, unhurried=True, untrusted=True)
        self._trees = TreeBuilder(self._place, self._git)
        self._rules = IgnoreRules(self._place, scratch, scratch / "rules")

    def _is_full(self) -> bool:
        """Objects are spread evenly over 256 folders: one of them shows how many there are."""
        assert self._scratch is not None  # noqa: S101 - it is asked of one that was made
        try:
            count = 256 * sum(1 for _ in (self._scratch / "objects" / "17").iterdir())
        except FileNotFoundError:
            count = 0
        except OSError:
            return True
        return count > KEPT_OBJECTS or self._trees.written_bytes > KEPT_BYTES

    async def _follow(self, running: Collection[AttemptKey]) -> None:
        """Begin with the workspaces that are new, and drop those that are gone."""
        for key in self._sights.keys() - set(running):
            del self._sights[key]
        for key in running:
            if key not in self._sights and (sight := await self._begun(key)):
                self._sights[key] = sight
        bases = {sight.tree for sight in self._sights.values()}
        self._known = {tree: names for tree, names in self._known.items() if tree in bases}

    async def _begun(self, key: AttemptKey) -> Sight | None:
        folder = AttemptFolder(self._place.state / "workspaces" / key.task / str(key.attempt))
        try:
            opened = folder.opened()
            if opened is None:
                return None
            if opened.tree:
                sight = Sight(folder, opened, opened.tree, frozenset(opened.begun), None)
            else:
                sight = await self._copied(folder, opened)
            base = (await self._git.names(f"{opened.base}^{{tree}}"))[0] or ""
            if base and base != sight.tree:
                sight.earlier = frozenset(each.path for each in await self._git.changes(base, sight.tree))
        except (OSError, DamagedNote, GitFailed, RejectedObjects):
            return None
        return sight

    async def _copied(self, folder: AttemptFolder, opened: WorkspaceOpened) -> Sight:
        """A workspace that is a copy: its own note is younger than every file that was copied."""
        assert self._scratch is not None  # noqa: S101 - every look begins with making it
        index = self._scratch / "index"
        shutil.copyfile(folder.index, index)
        tree = (await self._git.having(GIT_INDEX_FILE=str(index)).run("write-tree")).line
        if tree not in self._known:
            said = await self._git.run("ls-tree", "-r", "-z", "--full-tree", tree)
            entries = (entry.partition(b"\t") for entry in said.out.split(b"\0") if entry)
            # A submodule is a folder, which may be empty.
            files = (path for words, _, path in entries if not words.startswith(b"160000"))
            self._known[tree] = frozenset(map(os.fsdecode, files))
        since = (folder.home / "workspace.json").stat().st_ctime_ns
        return Sight(folder, opened, tree, self._known[tree], since)

    async def _overlaps(self, queued: Collection[Queued], main: Commit) -> tuple[Overlap, ...]:
        sides = {
            key: Side(sight.commit, sight.opened.base, sight.touched, True)
            for key, sight in self._sights.items()
            if sight.commit and sight.touched
        }
        for each in queued:
            touched = frozenset(os.fsencode(path) for path in each.touched)
            sides[each.key] = Side(each.commit, each.base, touched, False)
        self._used = {}
        moved = {key: side for key, side in sides.items() if side.base != main}
        with_main = await self._merged([(main, side.commit) for side in moved.values()])
        found, on_main = [], {key: side for key, side in sides.items() if side.base == main}
        for (key, side), merged in zip(moved.items(), with_main, strict=True):
            if merged and not merged.paths:
                on_main[key] = side._replace(commit=self._on(main, side.commit, merged.tree), base=main)
            elif merged and side.is_running:
                found.append(overlap(key, _ON_MAIN, merged.paths))
        pairs = related(sides)
        # One that conflicts with main is not on it. Then both are compared as they are.
        both = [[(on_main if {*pair} <= on_main.keys() else sides)[key] for key in pair] for pair in pairs]
        between = await self._merged([(one.commit, other.commit) for one, other in both])
        for pair, (one, other), merged in zip(pairs, both, between, strict=True):
            if shared := shared_paths(merged, one, other):
                found.append(overlap(*pair, shared))
        self._merges = self._used
        return tuple(found)

    def _on(self, main: str, commit: str, tree: str) -> str:
        """The same change on top of main."""
        key = (main, commit)
        if key not in self._landed:
            self._landed = {k: v for k, v in self._landed.items() if k[0] == main}
            self._landed[key] = self._trees.commit(tree, main)
        return self._landed[key]

    async def _merged(self, pairs: Sequence[tuple[str, str]]) -> list[Merged | None]:
        """Merge those pairs that were not merged before."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._merges]
        if new:
            began, spent = time.monotonic(), _spent()
            self._merges |= zip(new, await self._merge(new), strict=True)
            # On a busy machine git waits, which costs nothing; and others of our processes may have ended.
            took = min(time.monotonic() - began, _spent() - spent)
            self._merge_at = max(self._merge_at, began) + took / MERGE_SHARE
        found = [self._merges[pair] for pair in pairs]
        for pair, merged in zip(pairs, found, strict=True):
            if merged is None:
                self._strikes[pair] += 1
            if merged or self._strikes[pair] >= STRIKES:
                self._used[pair] = merged
        return found

    async def _merge(self, pairs: Sequence[tuple[str, str]]) -> list[Merged | None]:
        """Start one process for all. If it does not get through, the pair that it fails on is searched."""
        feed = "".join(f"{one} {other}\n" for one, other in pairs).encode()
        try:
            said = await self._git.run(*MERGE, feed=feed, timeout=MERGE_SECONDS)
            return list(answers(said.out, len(pairs)))
        except (GitFailed, RejectedObjects, ValueError):
            if len(pairs) == 1:
                return [None]
        half = len(pairs) // 2
        return [*await self._merge(pairs[:half]), *await self._merge(pairs[half:])]


def _spent() -> float:
    """Return the processor time of our processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def shared_paths(merged: Merged | None, one: Side, other: Side) -> tuple[str, ...]:
    """The conflicts of two changes. If they began at different commits, one conflicts with what the other one
    has from main, too: then only paths count that both touch."""
    if merged is None or one.base == other.base:
        return merged.paths if merged else ()
    return tuple(path for path in merged.paths if touches(one, path) and touches(other, path))


def touches(side: Side, path: str) -> bool:
    """Return True if the path, or a folder that it is in, is one that the change touches."""
    name = path.encode("utf-8", "backslashreplace")
    return name in side.touched or any(above in side.touched for above in folders_above(name))


def answers(out: bytes, count: int) -> list[Merged]:
    """Read what `merge-tree --stdin` says; `ValueError` if it says less than was asked."""
    words, at, found = out.split(b"\0"), 0, list[Merged]()
    for _ in range(count):
        tree, at = words[at + 1 : at + 2], at + 2
        end = words.index(b"", at)
        paths = (_SIDE.sub("", path.decode("utf-8", "backslashreplace")) for path in words[at:end])
        found.append(Merged(tree[0].decode(), tuple(dict.fromkeys(paths))))
        at = end + 1
    return found


def overlap(one: AttemptKey, other: AttemptKey, paths: Sequence[str]) -> Overlap:
    named = tuple(sorted(paths)[:SHOWN])
    return Overlap(one.task, one.attempt, other.task, other.attempt, named, len(paths))


def related(sides: Mapping[AttemptKey, Side]) -> list[tuple[AttemptKey, AttemptKey]]:
    """Return the pairs that may conflict (rule 3), of which one is still being worked on."""
    at: dict[bytes, set[AttemptKey]] = {}
    for key, side in sides.items():
        for path in side.touched:
            at.setdefault(path, set()).add(key)
    pairs = set[tuple[AttemptKey, AttemptKey]]()
    for path, keys in at.items():
        others = keys.union(*(at.get(above, ()) for above in folders_above(path)))
        pairs.update((one, other) for one in keys for other in others if one.task != other.task)
    # Each pair once, in the order of names, so that it has one result and one fact.
    ordered = {(one, other) if one.task < other.task else (other, one) for one, other in pairs}
    at_work = (pair for pair in ordered if any(sides[key].is_running for key in pair))
    return sorted(at_work, key=lambda pair: (pair[0].task, pair[1].task))
