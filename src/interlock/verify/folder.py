"""Folders for checks: each is made for one command, and removed after it.

1. A lock of the kernel holds as long as its process lives, also while that is stopped: whatever the stopped
   process does when it wakes up, it does in its own folder.
2. What was started by a process that is dead or stopped is ended before a check starts: it could hold the
   port that the check needs. What a dead one left is removed.
"""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interlock.model.errors import EnvironmentProblem


class Folders:
    """The folders of one project."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._mine: set[Path] = set()

    def others(self) -> list[Path]:
        """Folders of other processes' running checks, or of checks that were never ended."""
        return sorted(path for path in self._home.glob("*") if path.is_dir() and path not in self._mine)

    @contextmanager
    def fresh(self) -> Iterator[Path]:
        """A new folder, locked. Whoever asked for it removes it."""
        folder = self._home / uuid.uuid4().hex
        try:
            folder.mkdir(parents=True)
            lock = _locked(folder)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {folder}: {error.strerror}") from error
        self._mine.add(folder)
        try:
            yield folder
        finally:
            self._mine.discard(folder)
            os.close(lock)


def note(folder: Path) -> Path:
    """Where the process that uses a folder is noted."""
    return folder / "supervisor.pid"


@contextmanager
def abandoned(folder: Path) -> Iterator[bool]:
    """Is the process that made it dead. If so, no other process says yes to this until the end of the block:
    two that remove one folder at once both fail."""
    try:
        lock = _locked(folder)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(lock)


def _locked(folder: Path) -> int:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
