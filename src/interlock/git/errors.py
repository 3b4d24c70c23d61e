"""What can go wrong between us and git.

EnvironmentProblem
  GitFailed          git said no; carries what it said
InterlockError
  UnsafeLanding      a landing would do what no landing may; nothing was moved, and it must not be retried
"""

from interlock.model.errors import EnvironmentProblem, InterlockError

_HINTS = {
    "No space left on device": "free some disk space, then run the same command again",
    "Read-only file system": "make the disk writable, then run the same command again",
    "Permission denied": "check who owns the repository: `ls -la .git`",
    "dubious ownership": "trust the folder: `git config --global --add safe.directory <path>`",
    ".lock': File exists": "if no other git is running here, remove the lock file named above",
}


class GitFailed(EnvironmentProblem):
    """A git command ended in a way nobody planned for."""

    code = "git"

    def __init__(self, command: str, said: str) -> None:
        self.said = said.strip()
        hint = next((hint for sign, hint in _HINTS.items() if sign in said), "")
        super().__init__(f"git {command} failed: {self.said or 'it said nothing'}", hint)


class UnsafeLanding(InterlockError):
    """The commit is not what was tested, or would drop commits from the branch."""
