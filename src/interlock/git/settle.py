"""Finishes, after a crash, the move that the journal names: before anything judges the checkout.

Called with the lock of the journal, so no process of ours is at work on it: locks that we took are left over.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from interlock.git.catch_up import CatchUp, MergeUnderWay
from interlock.git.checkout import Worktree, worktree_at, worktrees_on
from interlock.git.errors import GitFailed
from interlock.git.files import mark_of
from interlock.git.index_lock import IndexLock
from interlock.git.journal import Journal, Pending
from interlock.git.place import Place
from interlock.git.taken_back import TakenBack

_LOCK_SECONDS = 2.0
"""A person's git process has its locks for a moment. One that hangs is named after this long."""
_LOOK_SECONDS = 0.1


class Settler:
    """Brings the checkouts of one repository along with the branch."""

    def __init__(self, place: Place, journal: Journal) -> None:
        self._place = place
        self._journal = journal

    async def settle(self, lock: int) -> str:
        """Finish what is left to do, if anything; what a person must know or do about it."""
        if not self._journal.is_there:
            return ""
        pending = self._journal.read()
        if pending is None:
            aside = self._journal.put_aside()
            return (
                f"{aside.with_suffix('.json')} was damaged and is now {aside.name}; if `git status` shows "
                "changes that you did not make, compare them with `git diff HEAD` before you commit"
            )
        trees = await self._trees(pending)
        for tree in trees:
            self._index_lock(tree).release()
        await self._drop_ref_locks(pending)
        if await self._is_on_branch(pending):
            return await self._bring_along(trees, pending, lock)
        self._journal.clear()
        return ""

    async def _trees(self, pending: Pending) -> list[Worktree]:
        if not pending.trees:
            return await worktrees_on(self._place, pending.branch)
        found = (worktree_at(Path(path)) for path in pending.trees)
        return [tree for tree in found if tree]

    async def _is_on_branch(self, pending: Pending) -> bool:
        words = ("merge-base", "--is-ancestor", pending.new, f"refs/heads/{pending.branch}")
        return (await self._place.git.run(*words, ok=(0, 1, 128))).code == 0

    async def _bring_along(self, trees: Iterable[Worktree], pending: Pending, lock: int) -> str:
        edited: dict[str, str] = {}
        for tree in trees:
            if not await self._take(tree):
                return (
                    f"{in_use(tree.index_lock)}, then run `interlock status` before you commit anything there"
                )
            try:
                edited |= await CatchUp(self._place, tree, pending, lock).finish()
            except MergeUnderWay:
                return f"a merge with conflicts is under way in {tree.path}; finish or abort it"
            except GitFailed as failed:
                return (
                    f"{pending.branch} has new commits, and {tree.path} could not be updated: {failed.said} "
                    "Do not commit there; `interlock status` tries again"
                )
            finally:
                self._index_lock(tree).release()
        if edited:
            self._journal.write(replace(pending, edited=edited))
            return _to_merge(pending, sorted(edited))
        await TakenBack(self._place).look(pending)
        self._journal.clear()
        return ""

    async def _take(self, tree: Worktree) -> bool:
        for _ in range(round(_LOCK_SECONDS / _LOOK_SECONDS)):
            if self._index_lock(tree).take():
                return True
            await asyncio.sleep(_LOOK_SECONDS)
        return False

    def _index_lock(self, tree: Worktree) -> IndexLock:
        return IndexLock(tree.git_dir, self._place.state)

    async def _drop_ref_locks(self, pending: Pending) -> None:
        """Remove the locks of our own git process that was killed while it moved the branch.

        The lock of the branch then holds our commit or nothing. Another git process holds a lock without
        content for a moment only, so one that stays the same for a while is left over.
        """
        common = self._place.common_dir
        branch = common / f"refs/heads/{pending.branch}.lock"
        locks = [branch, common / "HEAD.lock", common / "refs/interlock/fence.lock"]
        before = {path: mark for path in locks if (mark := mark_of(path))}
        if not before or _text(branch) not in ("", pending.new):
            return
        if _text(branch) != pending.new:
            await asyncio.sleep(_LOCK_SECONDS)
        for path, mark in before.items():
            if mark_of(path) == mark and _text(branch) in ("", pending.new):
                path.unlink(missing_ok=True)


def in_use(lock: Path) -> str:
    """Say that a lock of git is in the way; only its owner may remove it."""
    return f"another git process holds {lock}; if none is running, remove that file"


def _to_merge(pending: Pending, names: list[str]) -> str:
    some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    old, first = pending.old[:12], names[0]
    return (
        f"{pending.branch} has new commits, and your edits conflict with them: {some}. Nothing lands until "
        f"you have merged them, and committing them as they are would revert what landed. For each: "
        f"git diff {old} -- {first} > mine.patch && git checkout {pending.branch} -- {first} && "
        "git apply -3 mine.patch; or edit it so that it has both, then git add it"
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
