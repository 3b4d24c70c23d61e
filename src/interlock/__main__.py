"""`python -m interlock` is the `interlock` command.

It imports nothing from the repository that it works on: an agent may have written that.
"""

import contextlib
import os
import sys
from pathlib import Path


def main() -> int:
    """Run the command with modules from outside the repository alone."""
    with contextlib.suppress(OSError):  # the folder was removed
        _forget_modules_of(Path.cwd())
    from interlock.ui.cli import main as run  # noqa: PLC0415 - it imports all that the command needs

    return run()


def _forget_modules_of(here: Path) -> None:
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if root is None:
        return
    kept = {Path(__file__).parent.parent, *(Path(name) for name in sys.path if name.endswith("-packages"))}
    named = (Path(name).absolute() for name in ("", *os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    foreign = {path for path in named if path.is_relative_to(root)} - kept
    sys.path[:] = [name for name in sys.path if Path(name).absolute() not in foreign]


if __name__ == "__main__":
    sys.exit(main())
