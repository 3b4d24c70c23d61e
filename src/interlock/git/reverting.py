"""Undoes commits of the branch in memory, and lists its first-parent line.

Rules:
1. Commits are undone newest first, each on what the one before left. Only the files and lines that a commit
   changed are touched; where a later commit changed the same lines, nothing is made and that is said.
2. A merge is undone as a whole: back to its first parent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from interlock.git.command import LONG_AGO, Output
from interlock.git.conflicts import conflict_of, tree_of
from interlock.git.place import Place
from interlock.model.task import Commit, Tree

_MERGE_WORDS = ("--write-tree", "-z", "--allow-unrelated-histories")
_CONFLICTS = 1
_FORMAT = "--format=%H%x00%T%x00%P%x00%an%x00%s"
SUBJECT_CHARS = 200


@dataclass(frozen=True, slots=True)
class LineCommit:
    """One commit of the first-parent line of the branch."""

    commit: Commit
    tree: Tree
    parent: Commit
    """Its first parent; empty: it has none."""
    author: str = ""
    subject: str = ""
    merged: tuple[Commit, ...] = ()
    """Its other parents."""


@dataclass(frozen=True, slots=True)
class Revert:
    """A change that undoes commits, made in memory; or what is in its way."""

    commit: Commit = Commit("")
    """A commit of the tree without them; empty: there is a conflict, or nothing to undo."""
    touched: tuple[str, ...] = ()
    blocked_at: Commit = Commit("")
    """The commit that cannot be undone, because later commits changed the same lines."""
    conflicts: tuple[str, ...] = ()
    """The paths in which they did."""


class Reverts(Protocol):
    """Undoing commits, as the engine and the commands use it."""

    async def find(self, name: str) -> Commit | None:
        """Return the commit that a person names; None if there is none."""
        ...

    async def at(self, commit: Commit) -> LineCommit | None:
        """Return a commit; None if it does not exist here."""
        ...

    async def line(
        self, since: Commit, until: Commit, paths: Sequence[str] = (), *, most: int = 0
    ) -> list[LineCommit]:
        """List the commits up to `until` along first parents that `since` does not contain, oldest first.

        With `paths` only those that changed them; with `most` only so many of the newest."""
        ...

    async def revert(self, onto: Commit, commits: Sequence[Commit]) -> Revert:
        """Undo these commits, given newest first, on top of `onto`."""
        ...


class GitReverts:
    """Implements `Reverts` with git."""

    def __init__(self, place: Place) -> None:
        self._git = place.git

    async def find(self, name: str) -> Commit | None:
        (found,) = await self._git.names(f"{name}^{{commit}}") if name and name[0] not in "-:^" else (None,)
        return Commit(found) if found else None

    async def at(self, commit: Commit) -> LineCommit | None:
        if await self.find(commit) is None:
            return None
        return next(iter(_parsed(await self._log("--max-count=1", commit, "--"))))

    async def line(
        self, since: Commit, until: Commit, paths: Sequence[str] = (), *, most: int = 0
    ) -> list[LineCommit]:
        words = ["--first-parent", *((f"--max-count={most}",) if most else ())]
        literal = [f":(literal,top){path}" for path in paths]
        found = _parsed(await self._log(*words, until, *((f"^{since}",) if since else ()), "--", *literal))
        return found[::-1]

    async def revert(self, onto: Commit, commits: Sequence[Commit]) -> Revert:
        tree = Tree((await self._git.names(f"{onto}^{{tree}}"))[0] or "")
        before = tree
        for commit in commits:
            said = await self._without(tree, commit)
            if said.code == _CONFLICTS:
                clash = await conflict_of(self._git, said)
                return Revert(blocked_at=commit, conflicts=clash.conflicts)
            tree = tree_of(said)
        if tree == before:
            return Revert()
        touched = await self._git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, tree)
        return Revert(await self._commit(tree, onto), touched.items)

    async def _without(self, tree: Tree, commit: Commit) -> Output:
        """Merge what undoes the commit into the tree: git merges from the commit to its first parent."""
        ours = await self._commit(tree, commit)
        theirs = await self._commit(Tree(f"{commit}^1^{{tree}}"), commit)
        return await self._git.run("merge-tree", *_MERGE_WORDS, ours, theirs, ok=(0, _CONFLICTS))

    async def _commit(self, tree: Tree, parent: Commit) -> Commit:
        dated = self._git.having(**LONG_AGO)
        said = await dated.run("commit-tree", tree, "-p", parent, feed=b"undo\n")
        return Commit(said.line)

    async def _log(self, *words: str) -> str:
        said = await self._git.run("log", "-z", _FORMAT, "--no-show-signature", *words)
        return said.out.decode("utf-8", "replace")


def _parsed(text: str) -> list[LineCommit]:
    fields = text.split("\0")
    found = []
    for at in range(0, len(fields) - 4, 5):
        commit, tree, parents, author, subject = fields[at : at + 5]
        parent, *merged = map(Commit, parents.split() or [""])
        found.append(
            LineCommit(Commit(commit), Tree(tree), parent, author, subject[:SUBJECT_CHARS], tuple(merged))
        )
    return found
