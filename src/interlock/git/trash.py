"""Giving up workspaces. What is not in the repository goes to the trash, and the trash is emptied late.

1. A workspace that was never collected is never deleted, not even from the trash.
2. A collected one is deleted at once only if nothing is left in it that git did not take.
"""

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from interlock.git.attempt import AttemptFolder
from interlock.git.command import Git
from interlock.git.files import remove_tree, strip_special_modes
from interlock.git.include import fingerprint
from interlock.git.place import Place
from interlock.model.errors import InterlockError

_TO_DELETE = ".deleting-"


class LeftState(StrEnum):
    """State of a left-over folder."""

    OPEN = "open"
    """A workspace in use, or left by a process that died."""
    COLLECTED = "collected"
    TRASH = "trash"
    EVIDENCE = "evidence"
    """A folder in the trash that is not in the repository: only a person may delete it."""
    HOME = "home"
    """The homes that the agents of a task had: settings and sessions of their programs, and no work."""
    SETUP = "setup"
    """The result of an old set-up, or of one that broke off."""
    RECORDS = "records"
    """Outputs, transcripts or evidence of a task that has been over for long."""
    SCRATCH = "scratch"
    """A folder of one command of git, or of a try of the sandbox, that was killed."""


@dataclass(frozen=True, slots=True)
class Left:
    """A folder on disk that `interlock gc` lists."""

    path: Path
    state: LeftState
    age_seconds: float


class Trash:
    """The folders of one repository's attempts that are no longer needed."""

    def __init__(self, place: Place) -> None:
        self._workspaces = place.state / "workspaces"
        self._trash = place.state / "trash"
        self._doomed: list[Path] = []
        """Folders that stay only until there is time to delete them."""
        self._swept = False
        self._clearing: asyncio.Task[None] | None = None

    async def give_up(self, folder: AttemptFolder) -> Path | None:
        """Delete the folder, or move it to the trash; where it is now."""
        if not folder.home.exists():
            return None
        try:
            keep = await _holds_more(folder)
        except (InterlockError, OSError):
            keep = True  # it was damaged, so its content is unknown
        name = f"{folder.home.parent.name}-{folder.home.name}-{time.time_ns()}"
        target = self._trash / (name if keep else _TO_DELETE + name)
        self._trash.mkdir(parents=True, exist_ok=True)
        folder.home.chmod(folder.home.stat().st_mode | stat.S_IRWXU)  # a shut folder cannot be moved
        folder.home.rename(target)
        os.utime(target)
        with contextlib.suppress(OSError):  # other attempts of the task may still be there
            folder.home.parent.rmdir()
        if keep:
            await asyncio.to_thread(strip_special_modes, target)
            return target
        self._doomed.append(target)
        if self._clearing is None or self._clearing.done():
            self._clearing = asyncio.create_task(self._clear())
        return None

    async def close(self) -> None:
        """Delete what was given up and is not kept."""
        if self._clearing and not self._clearing.done():
            await asyncio.wait([self._clearing])
        await self._clear()

    async def _clear(self) -> None:
        """Delete the given-up folders in the background, as it takes a while."""
        if not self._swept:  # what a process that was killed had no time to delete
            self._swept = True
            left = await asyncio.to_thread(lambda: set(self._trash.glob(f"{_TO_DELETE}*")))
            self._doomed += sorted(left.difference(self._doomed))
        while self._doomed:
            with contextlib.suppress(OSError):  # a matter for `gc`
                await asyncio.to_thread(remove_tree, self._doomed.pop())

    def listing(self) -> list[Left]:
        return [*self._open(), *self._trashed()]

    async def empty(self, older_than_seconds: float, *, dry_run: bool) -> list[Left]:
        """Delete what has been in the trash for so long; say what was deleted, or would be."""
        old = [
            left
            for left in self._trashed()
            if left.state is LeftState.TRASH and left.age_seconds >= older_than_seconds
        ]
        if not dry_run:
            for left in old:
                with contextlib.suppress(FileNotFoundError):  # the run that gave it up deletes it as well
                    await asyncio.to_thread(remove_tree, left.path)
        return old

    def _open(self) -> Iterator[Left]:
        for home in sorted(self._workspaces.glob("*/*")):
            state = LeftState.COLLECTED if AttemptFolder(home).kept() else LeftState.OPEN
            yield from _left(home, state)

    def _trashed(self) -> Iterator[Left]:
        if not self._trash.is_dir():
            return
        for path in sorted(set(self._trash.iterdir()) - set(self._doomed)):
            done = path.name.startswith(_TO_DELETE) or AttemptFolder(path).kept()
            yield from _left(path, LeftState.TRASH if done else LeftState.EVIDENCE)


def _left(path: Path, state: LeftState) -> Iterator[Left]:
    """Yield nothing if it is gone by now: a run deletes what it no longer needs."""
    with contextlib.suppress(FileNotFoundError):
        yield Left(path, state, time.time() - path.stat().st_mtime)


async def _holds_more(folder: AttemptFolder) -> bool:
    """Return True if the folder holds anything that the repository has not."""
    opened, kept = folder.opened(), folder.kept()
    if opened is None:
        return False  # it was never finished, so no agent has been in it
    if kept is None or kept.leftovers:
        return True
    # Whole folders are enough to know, unless single files of them were copied in by us.
    words = () if opened.included else ("--directory",)
    git = Git(folder.trusted, folder.tree, unhurried=True)
    said = await git.run("ls-files", "-o", "-z", *words, limit_bytes=1 << 20)
    names = [os.fsdecode(name) for name in said.out.split(b"\0") if name]
    return said.cut or any(_is_news(folder.tree / name, opened.included.get(name)) for name in names)


def _is_news(path: Path, was: str | None) -> bool:
    return was is None or fingerprint(path) != was
