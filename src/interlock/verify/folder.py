"""Folders for checks: each is for one living process at a time, and free of what earlier ones left running.

1. A lock of the kernel holds as long as its process lives, also while that is stopped. Then there is a next
   folder: whatever the stopped process does when it wakes up, it does in its own.
2. What was started by a process that is dead or stopped is ended before a folder is used: it would write into
   it, or hold the port that the next check needs.
"""

import fcntl
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interlock.model.errors import EnvironmentProblem


class Folders:
    """The numbered folders of one project."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._mine: set[int] = set()

    def notes(self) -> list[Path]:
        """Where the processes of others' running checks are noted, or of checks that were never ended."""
        mine = {self.note(number) for number in self._mine}
        return sorted(note for note in self._home.glob("*.pid") if note not in mine)

    def note(self, number: int) -> Path:
        """Where the process that uses a folder is noted."""
        return self._home / f"{number}.pid"

    @contextmanager
    def taken(self) -> Iterator[int]:
        """The first folder that nobody is in; nobody else gets it meanwhile."""
        for number in itertools.count(1):
            lock = self._open(self._home / f"{number}.lock")
            try:
                if _is_free(lock):
                    yield from self._kept(number)
                    return
            finally:
                os.close(lock)

    def _kept(self, number: int) -> Iterator[int]:
        self._mine.add(number)
        try:
            yield number
        finally:
            self._mine.discard(number)

    def _open(self, path: Path) -> int:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {path}: {error.strerror}") from error


def _is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise EnvironmentProblem(f"this disk has no locks: {error.strerror}") from error
    return True
