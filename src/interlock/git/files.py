"""Files on disk: written so that they survive a power cut, removed even when somebody made them read-only."""

import os
import shutil
import stat
from pathlib import Path


def write_durably(path: Path, text: str) -> None:
    """Replace the file as a whole; when this returns, it is on the disk."""
    fresh = path.with_name(path.name + ".new")
    with fresh.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def make_readable(root: Path) -> None:
    """Give ourselves every right on everything below `root`, without following links."""
    root.chmod(root.stat().st_mode | stat.S_IRWXU)
    for folder, folders, names in os.walk(root):
        for name in folders:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | stat.S_IRWXU)
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                path.chmod(mode | stat.S_IRUSR)


def remove_tree(root: Path) -> None:
    """Remove a folder and all below it, also folders that were made read-only."""
    if not root.is_symlink() and root.is_dir():
        try:
            shutil.rmtree(root)
        except PermissionError:
            make_readable(root)
            shutil.rmtree(root)
    else:
        root.unlink(missing_ok=True)


def read_beneath(root: Path, relative: str, limit_bytes: int = 1 << 20) -> str | None:
    """The text of a regular file below `root`, following no link on the way; nothing if there is none.

    For files an agent could have replaced by links or pipes.
    """
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        *parents, name = relative.split("/")
        for parent in parents:
            below = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return os.read(file, limit_bytes).decode("utf-8", "surrogateescape")
    finally:
        os.close(file)
