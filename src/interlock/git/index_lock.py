"""The lock of a checkout's index, taken as git takes it, and recognized as ours after a crash.

Our lock file is a hard link to a file of the state folder. So it is ours by identity, also after a power cut:
git makes a file of its own, and a person's lock is never touched.
"""

import contextlib
import errno
import os
from pathlib import Path

from interlock.git.files import write_durably

_TEXT = (
    "Interlock is bringing this checkout to a new commit of its branch.\n"
    "If no Interlock runs here, `interlock status` finishes that and removes this lock.\n"
)
_NO_LINKS = (errno.EPERM, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class IndexLock:
    """`index.lock` of one git dir."""

    def __init__(self, git_dir: Path, state: Path) -> None:
        self.path = git_dir / "index.lock"
        self._mark = state / "checkout.mark"

    @property
    def is_ours(self) -> bool:
        """Return True if this program took it, in this process or in one that has ended."""
        try:
            if os.path.samestat(self.path.lstat(), self._mark.lstat()):
                return True
            return self.path.read_bytes() == _TEXT.encode()
        except OSError:
            return False

    def take(self) -> bool:
        """Take it; False if another git process has it."""
        if not self._mark.exists():
            write_durably(self._mark, _TEXT)
        try:
            os.link(self._mark, self.path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._take_without_links()
        return True

    def _take_without_links(self) -> bool:
        try:
            with self.path.open("x") as file:
                file.write(_TEXT)
        except FileExistsError:
            return False
        return True

    def release(self) -> None:
        """Give it back. Also one that a process of ours left when it was killed; no other."""
        if self.is_ours:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
