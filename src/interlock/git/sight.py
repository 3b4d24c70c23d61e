"""One running workspace, as it was read last: a commit of its files on top of the commit it began with."""

import asyncio
import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from interlock.git.attempt import AttemptFolder, WorkspaceOpened
from interlock.git.command import to_the_end
from interlock.git.files import folders_above
from interlock.git.ignore_rules import IgnoreRules
from interlock.git.scan import CONTENT_BYTES, Mark, Scan, TooMuch, read, scan
from interlock.git.tree_build import Leaf, TreeBuilder, planned

EVERY_SECONDS = 1.0
"""The shortest time between two looks at one workspace."""
SHARE = 0.03
"""The share of one processor for reading workspaces. One that takes longer to read is read less often."""
TOUCHED = 5_000
"""Changed paths of one workspace. A change that is larger is not compared."""
_PROBE = "interlock-radar-probe"
"""Stands for any file of a folder, in a question about ignore rules."""
_SOME = Leaf(b"100644", "")


@dataclass(slots=True)
class Sight:
    """A workspace, and what is known of it."""

    folder: AttemptFolder
    opened: WorkspaceOpened
    tree: str
    """The tree that it began with."""
    known: frozenset[str]
    """Files that were in its folder when it began."""
    since_ns: int | None
    """For a copy: what was written before is as it was."""
    earlier: frozenset[bytes] = frozenset()
    """Paths that an earlier attempt had changed, from which it goes on."""
    due: float = 0.0
    """The time of the next look."""
    last: Scan | None = None
    blobs: dict[str, tuple[Mark, Leaf]] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    """New folders that are ignored as a whole."""
    judged: dict[str, bool] = field(default_factory=dict)
    """New files: True if they count."""
    commit: str = ""
    """Its files; empty: it was not read."""
    touched: frozenset[bytes] = frozenset()
    why_unseen: str = ""

    def forget(self) -> None:
        """Read all of it again: the ignore rules are others now, or the objects are gone."""
        self.last, self.due = None, 0.0
        self.blobs.clear()
        self.ignored.clear()
        self.judged.clear()

    def look(self, others: int) -> Scan | None:
        """List its files; None if nothing has changed. `others`: the number of workspaces that share."""
        began, found = time.thread_time(), None
        try:
            found = scan(self.folder.tree, self.ignored, self.known, self.since_ns)
        except TooMuch as problem:
            self.lose(str(problem))
        except OSError:
            pass  # it has just been removed
        self.due = time.monotonic() + max(EVERY_SECONDS, (time.thread_time() - began) * others / SHARE)
        return found if found != self.last else None

    def lose(self, why: str) -> None:
        """Compare it no more until it changes."""
        self.last, self.commit, self.touched, self.why_unseen = None, "", frozenset(), why
        self.blobs.clear()

    async def take(self, found: Scan, trees: TreeBuilder, rules: IgnoreRules) -> None:
        """Make a commit of what was found."""
        paths = [*found.files, *found.gone, *found.replaced]
        outline = planned({os.fsencode(path): _SOME for path in paths})
        await trees.load(self.tree, outline)
        new = [path for path in found.files if trees.leaf(self.tree, os.fsencode(path)) is None]
        await self._judge([path for path in new if path not in self.judged], trees, rules)
        try:
            await to_the_end(asyncio.to_thread(self._build, found, trees))
        except TooMuch as problem:
            self.lose(str(problem))
            return
        self.last, self.why_unseen = found, ""

    async def _judge(self, new: Collection[str], trees: TreeBuilder, rules: IgnoreRules) -> None:
        """Find out which new files count, and which folders need not be looked into any more."""
        above = {folder for path in new for folder in folders_above(path)}
        unknown = [each for each in above if trees.leaf(self.tree, os.fsencode(each)) is None]
        found = await rules.patterns([*new, *(f"{each}/{_PROBE}" for each in unknown)])
        self.judged |= {path: path not in found for path in new}
        # A pattern that ends with a star may be about the files in the folder, and another one spare some.
        decided = ((each, found.get(f"{each}/{_PROBE}", "*")) for each in unknown)
        self.ignored |= {each for each, pattern in decided if not pattern.endswith("*")}

    def _build(self, found: Scan, trees: TreeBuilder) -> None:
        changes: dict[bytes, Leaf | None] = {os.fsencode(path): None for path in found.gone}
        self.blobs = self._read(found.files, trees)
        changes |= {os.fsencode(path): leaf for path, (_, leaf) in self.blobs.items()}
        fresh = [os.fsencode(path) for path in found.replaced]
        tree, touched = trees.build(self.tree, planned(changes, fresh))
        if len(touched) > TOUCHED:
            raise TooMuch(f"it has more than {TOUCHED:,} changed files")
        self.touched = touched | self.earlier
        self.commit = trees.commit(tree, self.opened.base)

    def _read(self, files: Mapping[str, Mark], trees: TreeBuilder) -> dict[str, tuple[Mark, Leaf]]:
        counted = {path: mark for path, mark in files.items() if self.judged.get(path, True)}
        if sum(mark.size for mark in counted.values()) > CONTENT_BYTES:
            raise TooMuch(f"its changed files hold more than {CONTENT_BYTES >> 20} MiB")
        blobs = {}
        for path, mark in counted.items():
            before = self.blobs.get(path)
            if before and before[0] == mark:
                blobs[path] = before
            elif (content := read(self.folder.tree, path, mark)) is not None:
                blobs[path] = mark, Leaf(mark.mode, trees.put("blob", content))
        return blobs
