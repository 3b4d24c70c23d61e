"""`python -m interlock` is the `interlock` command.

It imports nothing of a repository that PYTHONPATH or the current folder leads to: agents may have written it.
Before that is certain, only modules may be used that Python has imported already.
"""

# ruff: noqa: PTH100, PTH118, PTH120 - pathlib could be a file of the repository here

import os
import sys


def main() -> int:
    """Run the command with modules from outside of repositories."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    named = ("", *os.environ.get("PYTHONPATH", "").split(os.pathsep))
    foreign = {path for name in named if _is_of_repository(path := os.path.abspath(name)) and path != own}
    sys.path[:] = [name for name in sys.path if os.path.abspath(name) not in foreign]
    from interlock.ui.cli import main as run  # noqa: PLC0415 - it imports all that the command needs

    return run()


def _is_of_repository(path: str) -> bool:
    """Tell if a folder is in a repository, but for packages that were installed there."""
    if path.endswith("-packages"):
        return False
    while not os.path.lexists(os.path.join(path, ".git")):
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return True


if __name__ == "__main__":
    sys.exit(main())
