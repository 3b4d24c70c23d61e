"""Moves the protected branch: the one write to the user's repository that matters.

1. The branch moves in one ref transaction that also compares the fence; both old values must match.
2. It only ever moves forward.
3. The user's checkouts of it follow. No file is changed that the user has edited: then the move waits.
4. When in doubt about what came of a try, look at the refs, not at the words of an error.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from interlock.git import fence
from interlock.git.checkout import (
    Journal,
    Pending,
    Worktree,
    changed_paths,
    edits,
    follow,
    half_way,
    in_the_way,
    stands_at,
    worktrees_on,
)
from interlock.git.edits import is_untouched
from interlock.git.errors import GitFailed, UnsafeLanding
from interlock.git.place import Place
from interlock.model.outcome import Move

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Advance:
    """One move of the branch."""

    branch: str
    new: str
    old: str
    why: str
    """For the reflog."""
    fence: str | None = None
    """The blob the fence must point to; nothing for a fast-forward to upstream, which no epoch guards."""

    @property
    def ref(self) -> str:
        """The branch by its full name."""
        return f"refs/heads/{self.branch}"

    @property
    def transaction(self) -> bytes:
        """The move in the words of `update-ref --stdin`."""
        guard = f"verify {fence.REF} {self.fence}\n" if self.fence else ""
        return f"start\n{guard}update {self.ref} {self.new} {self.old}\nprepare\ncommit\n".encode()


async def to_the_end(work: Coroutine[Any, Any, _T]) -> _T:  # Any: what a coroutine yields to its loop
    """Do not stop half-way when cancelled: finish first, then let the cancellation go on."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _some(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")


class Branch:
    """The protected branch and the checkouts that follow it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._git = place.git
        self._journal = Journal(place)
        self._lock = asyncio.Lock()
        """One move at a time: no move of our own comes between a look at the checkouts and the next one."""

    async def contains(self, branch: str, commit: str) -> bool:
        """Is the commit on the branch. One that is not there at all is not on it either."""
        said = await self._git.run(
            "merge-base", "--is-ancestor", commit, f"refs/heads/{branch}", ok=(0, 1, 128)
        )
        if said.code == 128 and "Not a valid" not in said.err:
            raise GitFailed("merge-base", said.err)
        return said.code == 0

    async def move(self, advance: Advance) -> Move:
        """Move it if nothing is in the way."""
        async with self._lock:
            if await to_the_end(self._settle()):
                return Move.HELD
            trees = await worktrees_on(self._place, advance.branch)
            obstacles = await asyncio.gather(*(self._obstacle(tree, advance) for tree in trees))
            for obstacle in obstacles:
                if obstacle:
                    return obstacle
            return await to_the_end(self._move(advance, trees))

    async def settle(self) -> str:
        """Finish what a crash left between a move of the branch and its checkouts. Says what it could not."""
        async with self._lock:
            return await to_the_end(self._settle())

    async def obstacle(self, advance: Advance) -> str:
        """What is in the way of a move, in words."""
        async with self._lock:
            if problem := await to_the_end(self._settle()):
                return problem
            trees = await worktrees_on(self._place, advance.branch)
            for tree in trees:
                if words := await self._in_words(tree, advance):
                    return words
        return "nothing is in the way any more"

    async def _in_words(self, tree: Worktree, advance: Advance) -> str:
        found, covered, moved = await asyncio.gather(
            edits(tree),
            in_the_way(tree, self._git, advance.old, advance.new),
            changed_paths(self._git, advance.old, advance.new),
        )
        if problem := half_way(tree, advance.branch, found):
            return problem
        if both := sorted(moved.intersection(found.paths)):
            files = f"{_some(both)} in {tree.path}"
            return f"this change edits {files}, where you have uncommitted changes; commit or stash them"
        if covered:
            return f"untracked files in {tree.path} would be overwritten ({_some(covered)}); move them away"
        return ""

    async def _obstacle(self, tree: Worktree, advance: Advance) -> Move | None:
        if tree.rebasing:
            return Move.HELD
        if tree.is_locked:
            return Move.BUSY
        free, covered = await asyncio.gather(
            self._is_free(tree, advance), in_the_way(tree, self._git, advance.old, advance.new)
        )
        return None if free and not covered else Move.HELD

    async def _is_free(self, tree: Worktree, advance: Advance) -> bool:
        """Has the user edited nothing that the move changes. The quick answer counts only if it is yes."""
        (held,) = await self._git.names(f"{advance.old}^{{tree}}")
        index = tree.git_dir / "index"
        if await asyncio.to_thread(is_untouched, self._place, tree.path, index, held or ""):
            return True
        found = await edits(tree)
        moved = await changed_paths(self._git, advance.old, advance.new)
        return not found.conflicts and moved.isdisjoint(found.paths)

    async def _move(self, advance: Advance, trees: Sequence[Worktree]) -> Move:
        if trees:
            self._journal.write(Pending(advance.branch, advance.old, advance.new))
        said = await self._git.run(
            "update-ref", "-m", advance.why, "--stdin", feed=advance.transaction, ok=(0, 1, 128)
        )
        if said.code:
            self._journal.clear()
            return await self._explain(advance, said.err)
        if await self._followed(advance, trees):
            self._journal.clear()
        return Move.MOVED

    async def _followed(self, advance: Advance, trees: Sequence[Worktree]) -> bool:
        """Check where the branch is, and bring the checkouts along; one that cannot is left to `settle`."""
        results = await asyncio.gather(
            self._assert_there(advance),
            *(follow(tree, advance.old, advance.new) for tree in trees),
            return_exceptions=True,
        )
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, GitFailed):
                raise result
        return not any(results)

    async def _assert_there(self, advance: Advance) -> None:
        """The branch must now hold exactly what was tested, or have gone on from there."""
        tip, tree, tested = await self._git.names(
            advance.ref, f"{advance.ref}^{{tree}}", f"{advance.new}^{{tree}}"
        )
        if tip == advance.new and tree == tested:
            return
        if tip == advance.new or not await self.contains(advance.branch, advance.new):
            raise UnsafeLanding(
                f"{advance.branch} was moved to {advance.new} but holds {tip} with tree {tree}, not {tested}"
            )

    async def _explain(self, advance: Advance, said: str) -> Move:
        tip, standing = await self._git.names(advance.ref, fence.REF)
        if advance.fence and standing != advance.fence:
            return Move.FENCED
        if await self.contains(advance.branch, advance.new):
            return Move.MOVED
        if tip != advance.old:
            return Move.STALE
        if ".lock'" in said:
            return Move.BUSY
        raise GitFailed("update-ref", said)

    async def _settle(self) -> str:
        pending = self._journal.read()
        if pending is None:
            return ""
        if await self.contains(pending.branch, pending.new):
            for tree in await worktrees_on(self._place, pending.branch):
                if problem := await self._catch_up(tree, pending):
                    return problem
        self._journal.clear()
        return ""

    async def _catch_up(self, tree: Worktree, pending: Pending) -> str:
        tip = f"refs/heads/{pending.branch}"
        if tree.rebasing or not await stands_at(tree, pending.old, tip):
            return ""
        try:
            await follow(tree, pending.old, tip)
        except GitFailed as failed:
            return (
                f"{pending.branch} has moved on, and your edits in {tree.path} clash with it: {failed.said} "
                f"Save them elsewhere, then run: git read-tree -m -u {pending.old} {pending.branch}"
            )
        return ""
