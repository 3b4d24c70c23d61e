"""The checks that run now, as their output files say: no fact tells of one before all have ended."""

from contextlib import suppress
from pathlib import Path

from interlock.ui.attempt_files import open_regular
from interlock.ui.queries.queue_checks import Begun, orders
from interlock.ui.reading import Reading

HEADER_BYTES = 8 * 1024
"""A longer command is not recognised, and is shown as one that waits."""
MOST_FILES = 100


def checks_begun(reading: Reading, state_dir: Path) -> dict[str, Begun]:
    """Return what has begun of the checks of each change that is tested now, by the name of its order."""
    names = orders(reading.state).values()
    return {name: found for name in names if (found := _begun(state_dir / "evidence" / name))}


def _begun(folder: Path) -> Begun | None:
    """Each command has a file, made when it starts: the newest one runs, since the folder changed."""
    try:
        numbers = sorted(int(path.stem) for path in folder.glob("*.log") if path.stem.isdecimal())
        since = folder.stat().st_mtime
    except OSError:
        return None
    commands = [command for number in numbers[:MOST_FILES] if (command := _command(folder / f"{number}.log"))]
    return Begun(tuple(commands), since) if commands else None


def _command(path: Path) -> str:
    """Return the rest of `# interlock: tree ID: COMMAND`, which may go on for several lines."""
    with suppress(OSError), open_regular(path) as file:
        head = file.read(HEADER_BYTES).decode("utf-8", "replace")
        return head.partition(": tree ")[2].partition(": ")[2] if head.startswith("# interlock") else ""
    return ""
