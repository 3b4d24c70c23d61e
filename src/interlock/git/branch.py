"""Moves the protected branch: the one write to the user's repository that matters.

1. The branch moves in one ref transaction that also compares the fence; both old values must match.
2. It only ever moves forward.
3. The user's checkouts of it follow. No file is changed that the user has edited: then the move waits.
   The index of each is locked meanwhile, so that nothing is committed there that takes the move back.
4. After a failed try, the refs say what happened. The text of an error does not.
"""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from interlock.git import fence
from interlock.git.checkout import Worktree, edits, half_way, in_the_way, worktrees_on
from interlock.git.command import Difference, to_the_end
from interlock.git.errors import GitFailed, UnsafeLanding
from interlock.git.follow import follow
from interlock.git.index_lock import IndexLock
from interlock.git.journal import PATIENCE_SECONDS, Journal, Pending, StillMoving
from interlock.git.place import Place
from interlock.git.settle import Settler, in_use
from interlock.git.taken_back import TakenBack
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import Move


@dataclass(frozen=True, slots=True)
class Advance:
    """One move of the branch."""

    branch: str
    new: str
    old: str
    why: str
    """The entry in the reflog."""
    fence: str | None = None
    """The blob the fence must point to; nothing for a fast-forward to upstream, which no epoch guards."""

    landed: tuple[str, ...] = ()
    """The refs that remember what landed for each task; they move with the branch."""

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @property
    def transaction(self) -> bytes:
        """The move in the words of `update-ref --stdin`."""
        guard = f"verify {fence.REF} {self.fence}\n" if self.fence else ""
        beside = "".join(f"update {ref} {self.new}\n" for ref in self.landed)
        return f"start\n{guard}update {self.ref} {self.new} {self.old}\n{beside}prepare\ncommit\n".encode()


async def finish_move(place: Place, patience_seconds: float = PATIENCE_SECONDS) -> str:
    """Finish what a crash left, before anything judges the checkout; what a person must know, or nothing.

    Every command calls this, so it costs one look at a file where nothing is left to do.
    """
    taken_back = TakenBack(place)
    if not Journal(place).is_there and not taken_back.is_there:
        return ""
    try:
        return await Branch(place).settle(patience_seconds) or await taken_back.told()
    except (EnvironmentProblem, OSError) as problem:
        return f"your checkout does not have the new commits of {place.branch} yet: {problem}"


def _some(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")


class Branch:
    """The protected branch and the checkouts that follow it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._git = place.git
        self._journal = Journal(place)
        self._settler = Settler(place, self._journal)
        self._lock = asyncio.Lock()
        """One move at a time: no move of our own comes between a look at the checkouts and the next one."""

    async def contains(self, branch: str, commit: str) -> bool:
        """Return True if the commit is on the branch. A commit that does not exist is not on it."""
        said = await self._git.run(
            "merge-base", "--is-ancestor", commit, f"refs/heads/{branch}", ok=(0, 1, 128)
        )
        if said.code == 128 and "Not a valid" not in said.err:
            raise GitFailed("merge-base", said.err)
        return said.code == 0

    async def move(self, advance: Advance) -> Move:
        async with self._lock:
            try:
                async with self._journal.alone() as lock:
                    return await self._move_alone(advance, lock)
            except StillMoving:
                return Move.BUSY

    async def _move_alone(self, advance: Advance, lock: int) -> Move:
        if await to_the_end(self._settler.settle(lock)):
            return Move.HELD
        trees = await worktrees_on(self._place, advance.branch)
        for tree in trees:
            self._index_lock(tree).release()  # with the journal's lock, one of ours is left over
        changes = await self._git.changes(advance.old, advance.new) if trees else ()
        obstacles = await asyncio.gather(*(self._obstacle(tree, changes) for tree in trees))
        for obstacle in obstacles:
            if obstacle:
                return obstacle
        return await to_the_end(self._move(advance, trees, changes, lock))

    async def settle(self, patience_seconds: float = PATIENCE_SECONDS) -> str:
        """Finish what a crash left between a move of the branch and its checkouts. Says what it could not."""
        if not self._journal.is_there:
            return ""
        async with self._lock:
            try:
                async with self._journal.alone(patience_seconds) as lock:
                    return await to_the_end(self._settler.settle(lock))
            except StillMoving as problem:
                return str(problem) if patience_seconds else ""

    async def obstacle(self, advance: Advance) -> str:
        """Say in words what blocks a move."""
        if problem := await self.settle():
            return problem
        trees = await worktrees_on(self._place, advance.branch)
        changes = await self._git.changes(advance.old, advance.new) if trees else ()
        for tree in trees:
            if words := await self._in_words(tree, advance.branch, changes):
                return words
        held = self._place.common_dir / f"{advance.ref}.lock"
        return in_use(held) if held.exists() else "nothing blocks the landing any more"

    async def _in_words(self, tree: Worktree, branch: str, changes: Sequence[Difference]) -> str:
        found = await edits(tree)
        if problem := half_way(tree, branch, found):
            return problem
        if tree.index_lock.exists():
            return in_use(tree.index_lock)
        if both := sorted({each.name for each in changes}.intersection(found.paths)):
            files = f"{_some(both)} in {tree.path}"
            return f"this change edits {files}, where you have uncommitted changes; `git stash` lets it land"
        if covered := in_the_way(tree, changes):
            return f"untracked files in {tree.path} would be overwritten ({_some(covered)}); move them away"
        return ""

    async def _obstacle(self, tree: Worktree, changes: Sequence[Difference]) -> Move | None:
        if tree.rebasing:
            return Move.HELD
        if tree.index_lock.exists():
            return Move.BUSY
        found = await edits(tree, [each.path for each in changes])
        free = not found.conflicts and {each.name for each in changes}.isdisjoint(found.paths)
        return None if free and not in_the_way(tree, changes) else Move.HELD

    async def _move(
        self, advance: Advance, trees: Sequence[Worktree], changes: Sequence[Difference], lock: int
    ) -> Move:
        if not trees:
            return await self._move_ref(advance)
        folders = tuple(str(tree.path) for tree in trees)
        self._journal.write(Pending(advance.branch, advance.old, advance.new, folders))
        with ExitStack() as locks:
            move, done = await self._move_locked(advance, trees, changes, lock, locks)
        if done:  # after the locks: a process killed in between leaves a journal, and so no stale lock
            self._journal.clear()
        return move

    async def _move_locked(
        self,
        advance: Advance,
        trees: Sequence[Worktree],
        changes: Sequence[Difference],
        lock: int,
        locks: ExitStack,
    ) -> tuple[Move, bool]:
        """Return the result, and True if `settle` has nothing left to do."""
        for held in map(self._index_lock, trees):
            locks.callback(held.release)
            if not held.take():
                return Move.BUSY, True
        move = await self._move_ref(advance)
        return move, move is not Move.MOVED or await self._followed(advance, trees, changes, lock)

    def _index_lock(self, tree: Worktree) -> IndexLock:
        return IndexLock(tree.git_dir, self._place.state)

    async def _move_ref(self, advance: Advance) -> Move:
        said = await self._git.run(
            "update-ref", "-m", advance.why, "--stdin", feed=advance.transaction, ok=(0, 1, 128)
        )
        if said.code:
            return await self._explain(advance, said.err)
        await self._assert_there(advance)
        return Move.MOVED

    async def _followed(
        self, advance: Advance, trees: Sequence[Worktree], changes: Sequence[Difference], lock: int
    ) -> bool:
        """Bring the checkouts along; one that cannot is left to `settle`."""
        results = await asyncio.gather(
            *(follow(tree, advance.old, advance.new, changes, lock) for tree in trees),
            return_exceptions=True,
        )
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, GitFailed | OSError):
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
