"""Folders for checks: each is made for one command, and removed after it.

1. A lock of the kernel holds as long as its process lives, also while that is stopped: all that the stopped
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
        """Yield a new folder, locked. The caller removes it."""
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
    """Return the file that names the process that uses a folder."""
    return folder / "supervisor.pid"


@contextmanager
def abandoned(folder: Path) -> Iterator[bool]:
    """Yield True if the process that made it is dead. Then no other process gets True until the block ends:
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
