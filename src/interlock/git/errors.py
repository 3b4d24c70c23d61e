"""Errors of git.

EnvironmentProblem
  GitFailed          a git command failed; carries its error text
  BranchGone         the protected branch was deleted or renamed
InterlockError
  UnsafeLanding      a landing would do what no landing may; nothing was moved, and it must not be retried
"""

import errno
import os

from interlock.model.errors import EnvironmentProblem, InterlockError, RejectedObjects

_HINTS = {
    "No space left on device": "free some disk space, then run the same command again",
    "Read-only file system": "make the disk writable, then run the same command again",
    "Permission denied": "check who owns the repository: `ls -la .git`",
    "dubious ownership": "trust the folder: `git config --global --add safe.directory <path>`",
    ".lock': File exists": "if no other git is running here, remove the lock file named above",
}


class GitFailed(EnvironmentProblem):
    """A git command failed for a reason that the caller did not expect."""

    code = "git"

    def __init__(self, command: str, said: str) -> None:
        self.said = said.strip()
        hint = next((hint for sign, hint in _HINTS.items() if sign in said), "")
        super().__init__(f"git {command} failed: {self.said or 'it printed no error'}", hint)


class BranchGone(EnvironmentProblem):
    """The protected branch does not exist any more."""

    code = "branch-gone"

    def __init__(self, branch: str, last: str = "") -> None:
        command = f"git branch -- {branch} {last or '<commit>'}"
        super().__init__(
            f"the branch {branch!r} is gone; restore it with `{command}`",
            f"if it was renamed: git branch -m NEW-NAME {branch}",
        )


_OUTSIDE = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
    errno.EAGAIN,
)


def is_outside(problem: GitFailed | OSError) -> bool:
    """Return True if the machine is the cause (a full disk, no memory), and not the input of git."""
    if isinstance(problem, OSError):
        return problem.errno in _OUTSIDE
    # At the end of a line only: before that stand names that an agent may have chosen.
    endings = tuple(f": {os.strerror(number)}" for number in _OUTSIDE)
    return any(line.endswith(endings) for line in problem.said.splitlines())


def refused(command: str, said: str) -> InterlockError:
    """Build the error to raise when git fails on something that an agent made."""
    if is_outside(failed := GitFailed(command, said)):
        return failed
    lines = [line for line in said.splitlines() if line.startswith(("error:", "fatal:"))]
    return RejectedObjects("git rejected what the agent made: " + "; ".join(lines or [said.strip()]))


class UnsafeLanding(InterlockError):
    """The commit is not what was tested, or would drop commits from the branch."""
