"""A repository in memory: commits, trees, three-way merges, refs and the fence, with git's own answers.

It passes the same contract suite as the real one, and is also where the simulation looks up what is true:
which commits are on the branch, and which can still be reached.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from interlock.git.protocol import Divergence, Resolve, Rewritten
from interlock.git.reverting import LineCommit, Revert
from interlock.model.globs import matches
from interlock.model.history import BranchHistory, PastCommit
from interlock.model.outcome import Landing, Merge, Move, Tip
from interlock.model.task import Change, Commit, Tree

Files = Mapping[str, str]
"""A tree: content by path."""


@dataclass(frozen=True, slots=True)
class FakeCommit:
    """One commit object."""

    id: Commit
    tree: Tree
    parent: Commit | None
    message: str
    merged: tuple[Commit, ...] = ()
    """Its other parents."""


def trailers(message: str) -> dict[str, str]:
    """The `Key: value` lines at the end of a commit message; of equal keys the last one."""
    return dict(_trailers(message))


def tasks_of(message: str) -> list[str]:
    """The tasks that a commit on the branch has landed."""
    return [value for key, value in _trailers(message) if key == "Interlock-Task"]


def _trailers(message: str) -> list[tuple[str, str]]:
    pairs = (line.partition(": ") for line in message.rstrip().rpartition("\n\n")[2].splitlines())
    return [(key, value) for key, colon, value in pairs if colon]


def is_input(path: str, inputs: Sequence[str]) -> bool:
    """True if a check with these inputs sees a file. One without inputs sees all."""
    return not inputs or any(matches(glob, path) for glob in inputs)


def three_way(base: Files, ours: Files, theirs: Files) -> tuple[dict[str, str], tuple[str, ...]]:
    """Merge by whole files: the merged files, and the paths both sides changed differently."""
    merged: dict[str, str] = {}
    conflicts: list[str] = []
    for path in sorted({*base, *ours, *theirs}):
        was, our, their = base.get(path), ours.get(path), theirs.get(path)
        if our != their and was not in (our, their):
            conflicts.append(path)
            continue
        content = their if our == was else our
        if content is not None:
            merged[path] = content
    return merged, tuple(conflicts)


class FakeRepository:
    """Implements `interlock.git.protocol.Repository`. Every method acts at once: latency is added outside."""

    def __init__(self, files: Files | None = None, branch: str = "main") -> None:
        self.branch = branch
        self.ref = f"refs/heads/{branch}"
        self.commits: dict[Commit, FakeCommit] = {}
        self.trees: dict[Tree, Files] = {}
        self.refs: dict[str, Commit] = {}
        self.fence = 0
        self.on_branch: dict[Commit, None] = {}
        """Every commit of the branch, oldest first."""
        self.fallen: list[Commit] = []
        """Commits that were on the branch and are not any more."""
        self.on_land: Callable[[Landing], None] = lambda _landing: None
        """Called after each move made through `land`."""
        self._move(self.write(files or {}, None, "start\n"))

    # What the engine asks

    async def tip(self) -> Tip:
        commit = self.commits[self.refs[self.ref]]
        return Tip(self.branch, commit.id, commit.tree)

    async def fetch(self) -> str:
        return ""

    async def obstacle(self, _landing: Landing) -> str:
        return "uncommitted changes"

    async def settle(self) -> str:
        return ""

    async def fence_epoch(self) -> int:
        return self.fence

    async def raise_fence(self, epoch: int) -> None:
        self.fence = max(self.fence, epoch)

    async def merge(self, onto: Commit, work: Commit, base: Commit) -> Merge:
        merged, conflicts = three_way(self.files(base), self.files(onto), self.files(work))
        if conflicts:
            return Merge(None, conflicts, "".join(f"CONFLICT (content): {path}\n" for path in conflicts))
        return Merge(self._tree(merged))

    async def merge_all(self, onto: Commit, changes: Sequence[Change], resolve: Resolve) -> list[Merge]:
        merges: list[Merge] = []
        for change in changes:
            if merges and merges[-1].tree:
                onto = self._commit(merges[-1].tree, onto, "build")
            merges.append(await resolve(await self.merge(onto, *change)))
            if merges[-1].tree is None:
                break
        return merges

    async def divergence(self) -> Divergence | None:
        return None

    async def commit(self, tree: Tree, parent: Commit, message: str, *merged: Commit) -> Commit:
        return self._commit(tree, parent, message, merged)

    async def land(self, landing: Landing) -> Move:
        if landing.fence < self.fence:
            return Move.FENCED
        if landing.new in self.on_branch:
            return Move.MOVED
        if self.refs[self.ref] != landing.old:
            return Move.STALE
        self._move(landing.new)
        self.on_land(landing)
        return Move.MOVED

    async def missing(self, commits: Collection[Commit]) -> frozenset[Commit]:
        return frozenset(commit for commit in commits if commit not in self.on_branch)

    async def rewritten(self, gone: Collection[Commit]) -> Mapping[Commit, Rewritten]:
        found = {}
        for old in filter(self.commits.__contains__, gone):
            message = self.commits[old].message
            same = [self.commits[each] for each in self.on_branch if self.commits[each].message == message]
            if len(same) == 1 and "Interlock-Task" in trailers(message):
                found[old] = Rewritten(same[0].id, same[0].tree, same[0].parent or Commit(""))
        return found

    async def landings(self) -> Mapping[str, Tip]:
        return {}

    async def contains(self, commit: Commit) -> bool:
        return commit in self.on_branch

    async def diff(self, old: str, new: str, paths: Sequence[str] = ()) -> str:
        before, after = self.files(Commit(old)), self.files(Commit(new))
        changed = [p for p in sorted({*before, *after}) if before.get(p) != after.get(p)]
        return "".join(
            f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{before.get(path)}\n+{after.get(path)}\n"
            for path in changed
            if not paths or path in paths
        )

    async def past(self) -> BranchHistory:
        later = [commit for commit in self.on_branch if self.commits[commit].parent]
        changes = (PastCommit(commit, self._changed(commit)) for commit in later)
        here = frozenset(self.files(self.refs[self.ref]))
        return BranchHistory(tuple(change for change in changes if change.paths), here)

    # What undoes commits of it, as `interlock.git.reverting.Reverts` has it

    async def find(self, name: str) -> Commit | None:
        return next((commit for commit in self.commits if commit.startswith(name)), None)

    async def at(self, commit: Commit) -> LineCommit | None:
        if (known := self.commits.get(commit)) is None:
            return None
        parent = known.parent or Commit("")
        return LineCommit(commit, known.tree, parent, "somebody", "a change", known.merged)

    async def line(
        self, since: Commit, until: Commit, paths: Sequence[str] = (), *, most: int = 0
    ) -> list[LineCommit]:
        found: list[LineCommit] = []
        commit: Commit | None = until
        while commit and commit != since and not (most and len(found) == most):
            each = await self.at(commit)
            if each and (not paths or {*paths} & {*self._changed(commit)}):
                found.append(each)
            commit = self.commits[commit].parent
        return found[::-1]

    async def revert(self, onto: Commit, commits: Sequence[Commit]) -> Revert:
        files: Files = self.files(onto)
        for commit in commits:
            parent = self.commits[commit].parent
            assert parent is not None
            files, conflicts = three_way(self.files(commit), files, self.files(parent))
            if conflicts:
                return Revert(blocked_at=commit, conflicts=conflicts)
        tree, before = self._tree(files), self.files(onto)
        if tree == self.commits[onto].tree:
            return Revert()
        touched = tuple(path for path in sorted({*before, *files}) if before.get(path) != files.get(path))
        return Revert(self._commit(tree, onto, "undo\n"), touched)

    # What the simulated world does and asks

    def write(self, changes: Mapping[str, str | None], parent: Commit | None, message: str) -> Commit:
        """A commit with these changes on top of `parent`; None removes a path."""
        files: dict[str, str | None] = {**(self.files(parent) if parent else {}), **changes}
        return self._commit(self._tree({p: c for p, c in files.items() if c is not None}), parent, message)

    def only(self, tree: Tree, inputs: Sequence[str]) -> Tree:
        """The tree with only those files of another that a check with these inputs sees; none: all."""
        files = self.trees[tree]
        return self._tree({path: text for path, text in files.items() if is_input(path, inputs)})

    def push(self, changes: Mapping[str, str | None], message: str) -> Commit:
        """Somebody else moves the branch."""
        new = self.write(changes, self.refs[self.ref], message)
        self._move(new)
        return new

    def files(self, commit: Commit) -> Files:
        return self.trees[self.commits[commit].tree]

    def keep(self, ref: str, commit: Commit) -> None:
        """Point a ref at a commit, so that it stays."""
        self.refs[ref] = commit

    def reachable(self) -> set[Commit]:
        """All commits that some ref leads to."""
        found = set(self.on_branch)
        for tip in self.refs.values():
            commit: Commit | None = tip
            while commit is not None and commit not in found:
                found.add(commit)
                commit = self.commits[commit].parent
        return found

    def _move(self, new: Commit) -> None:
        """Point the branch at `new`. Without a fast-forward, what was on it before falls off, as in git."""
        before, fresh = self.refs.get(self.ref), []
        commit: Commit | None = new
        while commit is not None and commit != before:
            fresh.append(commit)
            commit = self.commits[commit].parent
        kept = self.on_branch if commit is not None else {}
        was, self.on_branch = self.on_branch, {**kept, **dict.fromkeys(reversed(fresh))}
        self.fallen += [commit for commit in was if commit not in self.on_branch]
        self.refs[self.ref] = new

    def _changed(self, commit: Commit) -> tuple[str, ...]:
        before = self.files(self.commits[commit].parent or commit)
        after = self.files(commit)
        return tuple(path for path in sorted({*before, *after}) if before.get(path) != after.get(path))

    def _tree(self, files: Files) -> Tree:
        tree = Tree(_digest("tree", *(f"{path}\0{files[path]}" for path in sorted(files))))
        self.trees.setdefault(tree, dict(files))
        return tree

    def _commit(
        self, tree: Tree, parent: Commit | None, message: str, merged: tuple[Commit, ...] = ()
    ) -> Commit:
        id = Commit(_digest("commit", tree, parent or "", message, *merged))
        self.commits.setdefault(id, FakeCommit(id, tree, parent, message, merged))
        return id


def _digest(*parts: str) -> str:
    return hashlib.sha1("\0".join(parts).encode(), usedforsecurity=False).hexdigest()
