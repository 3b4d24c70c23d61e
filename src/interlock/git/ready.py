"""Workspaces that are made before anybody asks for one, so that an agent need not wait for its own.

1. A ready one is nobody's: no agent has ever been in it, and it can be deleted at any time. It has no note
   (`attempt.Opened`), so that a crash on the way from here to an attempt leaves what counts as never made.
2. Nothing depends on them. One that is on another commit is brought to the right one; without any, a
   workspace is made as it is needed.
3. They are made one at a time, and their git gives way to all others.
"""

import asyncio
import contextlib
import os
import shutil
import uuid
from pathlib import Path

from interlock.git.attempt import AttemptFolder
from interlock.git.files import remove_tree
from interlock.git.making import bring_to, make_git_dirs
from interlock.git.place import Place
from interlock.model.errors import InterlockError

MOST_READY = 32
FREE_SHARE = 0.1
"""Of the disk: with less than that left, nothing is made ahead."""


class Ready:
    """The workspaces that one process has ready."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._all = place.state / "ready"
        self._own = self._all / f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._there: list[tuple[AttemptFolder, str]] = []
        """With the commit that each is on."""
        self._count = 0
        self._commit = ""
        self._swept = False

    def foresee(self, count: int, commit: str) -> bool:
        """So many may be asked for soon, on this commit. Is that news."""
        before = self._count, self._commit
        self._count, self._commit = min(count, MOST_READY) if commit else 0, commit
        return before != (self._count, self._commit)

    def take(self, folder: AttemptFolder, commit: str) -> str:
        """Make one an attempt's, at best one on this commit: the commit it is on; '' if there is none."""
        while self._there:
            fits = (number for number, (_, at) in enumerate(self._there) if at == commit)
            ready, at = self._there.pop(next(fits, 0))
            with contextlib.suppress(OSError):  # somebody removed it
                folder.home.parent.mkdir(parents=True, exist_ok=True)
                ready.home.rename(folder.home)
                return at
        return ""

    async def fill(self) -> None:
        """Have as many as were foreseen, where they were foreseen to be."""
        # A full disk, a damaged repository: whoever needs a workspace will say so, better than this could.
        with contextlib.suppress(InterlockError, OSError):
            await self._sweep()
            while len(self._there) > self._count:
                await asyncio.to_thread(remove_tree, self._there.pop()[0].home)
            while (old := self._other_commit()) is not None:
                folder, _ = self._there.pop(old)
                await self._add(folder, is_new=False)
            while len(self._there) < self._count and _has_room(self._place.state):
                await self._add(AttemptFolder(self._own / uuid.uuid4().hex[:8]), is_new=True)

    async def close(self) -> None:
        """Remove all of them."""
        self._there.clear()
        await asyncio.to_thread(shutil.rmtree, self._own, ignore_errors=True)

    def _other_commit(self) -> int | None:
        return next((number for number, (_, at) in enumerate(self._there) if at != self._commit), None)

    async def _add(self, folder: AttemptFolder, *, is_new: bool) -> None:
        commit = self._commit
        try:
            if is_new:
                await make_git_dirs(self._place, folder)
            await bring_to(folder, commit, unhurried=True)
        except BaseException:
            shutil.rmtree(folder.home, ignore_errors=True)
            raise
        self._there.append((folder, commit))

    async def _sweep(self) -> None:
        """Once: remove what processes that are gone had ready."""
        if self._swept:
            return
        self._swept = True
        for folder in self._all.glob("*-*"):
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not _is_alive(int(owner)):
                await asyncio.to_thread(remove_tree, folder)


def _has_room(folder: Path) -> bool:
    disk = shutil.disk_usage(folder)
    return disk.free >= disk.total * FREE_SHARE


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's
    return True
