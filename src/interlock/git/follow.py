"""Brings a checkout of the protected branch from the old commit to the new one.

Git works on a copy of the index, which replaces the index when all files are written and synced. So a git
process that is killed leaves no lock behind, and the index never says more than the disk holds.
"""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import replace

from interlock.git.checkout import Worktree
from interlock.git.command import Difference
from interlock.git.errors import GitFailed

_SYNC_EACH = 200
"""More files than this are not worth a call for each of them."""


class IndexCopy:
    """A copy of a checkout's index, to work on."""

    def __init__(self, tree: Worktree, lock: int | None) -> None:
        self._tree = tree
        self.path = tree.git_dir / "index.interlock"
        self.git = replace(
            tree.git.having(GIT_INDEX_FILE=str(self.path)), keeps=() if lock is None else (lock,)
        )
        """Keeps the journal's lock as long as it runs, however this process ends."""

    def make(self) -> "IndexCopy":
        """Copy the index; the time of the file tells git which entries it must look at more closely."""
        self.remove()
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(self._tree.git_dir / "index", self.path)
        return self

    async def install(self, paths: Iterable[bytes]) -> None:
        """Put it in the place of the index, after the files at `paths` and itself are on the disk."""
        await asyncio.to_thread(_sync, os.fsencode(self._tree.path), set(paths))
        await asyncio.to_thread(self._replace)

    def _replace(self) -> None:
        _sync_file(os.fsencode(self.path))
        self.path.replace(self._tree.git_dir / "index")
        _sync_file(os.fsencode(self._tree.git_dir))

    def remove(self) -> None:
        """Remove it, and the lock of a git process that was killed while it wrote it."""
        for path in (self.path, self.path.with_name(self.path.name + ".lock")):
            path.unlink(missing_ok=True)


async def follow(tree: Worktree, old: str, new: str, changes: Iterable[Difference], lock: int) -> None:
    """Bring index and files from `old` to `new`; edits elsewhere stay, and a clash changes nothing."""
    copy = IndexCopy(tree, lock).make()
    try:
        try:
            await copy.git.run("read-tree", "-m", "-u", old, new)
        except GitFailed:
            # Files were touched without a change since the index was last refreshed.
            await copy.git.run("update-index", "-q", "--refresh", ok=(0, 1))
            await copy.git.run("read-tree", "-m", "-u", old, new)
        await copy.install(each.path for each in changes)
    finally:
        copy.remove()


def _sync(root: bytes, paths: set[bytes]) -> None:
    """Wait until these files, and the folders that name them, are on the disk."""
    if len(paths) > _SYNC_EACH:
        os.sync()
        return
    folders = {root}
    for path in paths:
        _sync_file(os.path.join(root, path))  # noqa: PTH118 - names from git are bytes, which Path cannot hold
        while path := path.rpartition(b"/")[0]:
            folders.add(os.path.join(root, path))  # noqa: PTH118 - bytes again
    for folder in folders:
        _sync_file(folder)


def _sync_file(path: bytes) -> None:
    """A link, a removed file and a submodule have nothing of their own to wait for."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):  # noqa: PTH114 - bytes again
            return
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.fsync(file)
        except OSError:
            pass  # a file system that cannot; or a person put a device there
        finally:
            os.close(file)
