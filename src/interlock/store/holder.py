"""Finds the process that holds the write lock of an SQLite file, as far as the kernel tells."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOCKS = Path("/proc/locks")
PROCESSES = LOCKS.parent
SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that keeps others from writing."""

    pid: int
    command: str
    is_stopped: bool
    """True if a signal, a debugger or a shell stopped it: it does not go on by itself."""


def holder_of(path: str) -> Holder | None:
    """The process; nothing where that cannot be known."""
    files = set(_inodes(path))
    for line in _text(LOCKS).splitlines():
        words = line.split()  # 4: POSIX ADVISORY WRITE 25937 fe:00:4884330 120 120
        if len(words) == 8 and words[3] == "WRITE" and words[5].rpartition(":")[2] in files:
            pid = int(words[4])
            if pid > 0 and pid != os.getpid():
                return _holder(pid)
    return None


def _holder(pid: int) -> Holder:
    folder = PROCESSES / str(pid)
    command = " ".join(_text(folder / "cmdline").replace("\0", " ").split())
    state = _text(folder / "stat").rpartition(")")[2].split()
    return Holder(pid, command[:SHOWN_CHARS], state[:1] in (["T"], ["t"]))


def _inodes(path: str) -> Iterator[str]:
    """Yield the inodes of the log, and of the file beside it that holds its locks while it is in use."""
    for name in (path, f"{path}-shm"):
        try:
            yield str(Path(name).stat().st_ino)
        except OSError:
            continue


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
