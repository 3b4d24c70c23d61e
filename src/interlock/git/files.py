"""Files on disk: written so that they survive a power cut, removed even when they are read-only.

Nothing here recurses: agents make folders as deep as they like, and Python gives up at a thousand.
"""

import contextlib
import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import AnyStr

from interlock.git import bounds

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

SCRATCH = "interlock-git-"
"""Beginning of the name of a folder that one command of git works in. `interlock gc` removes those that a
kill has left."""
FULL_BYTES, FULL_FILES = 1 << 20, 100
"""A disk with less free space than this is full, or one that can hold so few more files."""


def is_full(folder: Path) -> bool:
    """Return True if the disk of a folder is full, or counts its inodes and has none left."""
    disk = os.statvfs(folder)
    has_inodes = not disk.f_files or disk.f_favail >= FULL_FILES
    return disk.f_bavail * disk.f_frsize < FULL_BYTES or not has_inodes


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


def mark_of(path: Path) -> tuple[int, int] | None:
    """Return the inode and the time of a file: unchanged values mean that nothing has written to it."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def folders_above(path: AnyStr) -> Iterator[AnyStr]:
    """The folders that a path is in, the nearest first; also of one that an agent let begin with a slash."""
    above = os.path.dirname(path)  # noqa: PTH120 - names from git are bytes, which Path cannot hold
    while above and above != path:
        yield above
        path, above = above, os.path.dirname(above)  # noqa: PTH120 - bytes again


def walk(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below `root`, each with its path from there; a folder comes before what is in it.

    Links are not followed, and folders that an agent shut are opened. `RejectedObjects` if it is too much or
    too deep.
    """
    waiting, count = [("", 0)], 0
    while waiting:
        above, depth = waiting.pop()
        for entry in _listed(root / above):
            path = f"{above}{entry.name}"
            count += 1
            if count > bounds.ENTRIES:
                raise bounds.too_large(
                    f"there are too many files in {root.name}", f"{bounds.ENTRIES:,} files"
                )
            bounds.check_path(path, depth)
            yield path, entry
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{path}/", depth + 1))


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except PermissionError:
        folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
        with os.scandir(folder) as entries:
            return list(entries)


def make_readable(root: Path) -> None:
    """Give ourselves every right on everything below `root`, without following links."""
    root.chmod(root.stat().st_mode | stat.S_IRWXU)
    for _, entry in walk(root):
        mode = entry.stat(follow_symlinks=False).st_mode
        if entry.is_dir(follow_symlinks=False):
            wanted = mode | stat.S_IRWXU
        else:
            wanted = mode | stat.S_IRUSR if stat.S_ISREG(mode) else mode
        if wanted != mode:
            Path(entry.path).chmod(wanted)


def strip_special_modes(root: Path) -> None:
    """Take setuid and setgid from all files below `root`: who starts such a file would become its owner."""
    waiting = [str(root)]
    while waiting:
        # What cannot be reached cannot be started by its path.
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    mode = entry.stat(follow_symlinks=False).st_mode
                    if stat.S_ISDIR(mode):
                        waiting.append(entry.path)
                    elif stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                        Path(entry.path).chmod(stat.S_IMODE(mode) & ~(stat.S_ISUID | stat.S_ISGID))


def remove_tree(root: Path) -> None:
    """Remove a folder and all below it, however deep, also folders that were made read-only."""
    if not os.path.lexists(root) or not _removal_problem(root):
        return
    # A folder that is shut can be neither read nor emptied. No link is followed.
    subprocess.run(("chmod", "-R", "u+rwx", "--", root), capture_output=True, check=False)
    if problem := _removal_problem(root):
        raise OSError(errno.EIO, problem, str(root))


def _removal_problem(root: Path) -> str:
    said = subprocess.run(("rm", "-rf", "--", root), capture_output=True, check=False)
    return said.stderr.decode(errors="replace").strip() if said.returncode else ""


def open_folder(root: Path, relative: str, *, make: bool = False) -> int:
    """A descriptor of the folder at `relative` below `root`. A link on the way is an error, not a way."""
    folder = os.open(root, _FOLDER)
    for name in filter(None, relative.split("/")):
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            below = os.open(name, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    return folder


def copy_beneath(source: Path, target: Path, relative: str) -> bool:
    """Copy a file or a link as it is, from below one folder to the same place below another.

    No link on the way is followed, on either side: a checkout and a workspace may hold links that an agent
    made. False if there is nothing of the kind, something is there already, or a link is in the way.
    """
    above, _, name = relative.rpartition("/")
    folders = list[int]()
    try:
        folders.append(open_folder(source, above))
        folders.append(open_folder(target, above, make=True))
        return _copy(name, *folders)
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        return False
    finally:
        for folder in folders:
            os.close(folder)


def _copy(name: str, source: int, target: int) -> bool:
    seen = os.stat(name, dir_fd=source, follow_symlinks=False)
    if stat.S_ISLNK(seen.st_mode):
        os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        return True
    if not stat.S_ISREG(seen.st_mode):
        return False
    with (
        open(os.open(name, _PLAIN, dir_fd=source), "rb") as old,  # noqa: PTH123 - a descriptor
        open(os.open(name, _NEW, 0o600, dir_fd=target), "wb") as new,  # noqa: PTH123 - a descriptor
    ):
        shutil.copyfileobj(old, new)
        new.flush()
        os.fchmod(new.fileno(), stat.S_IMODE(seen.st_mode) & 0o777)
        os.utime(new.fileno(), ns=(seen.st_atime_ns, seen.st_mtime_ns))
    return True


def git_dir_of(folder: Path) -> Path | None:
    """The git dir of a checkout; None if there is none, or the folder was removed behind git's back."""
    pointer = folder / ".git"
    if pointer.is_file():
        named = pointer.read_text(errors="surrogateescape").strip().removeprefix("gitdir: ")
        return (folder / named).resolve()
    return pointer if pointer.is_dir() else None


GRAPH_BYTES = 1 << 24
"""The largest task graph: ten thousand long tasks."""


def read_regular(path: Path, limit_bytes: int = 1 << 20) -> bytes:
    """The content of a file, and of nothing that is endless or waits: a clone may hold a link to a device."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise OSError(errno.EFBIG, f"is larger than {limit_bytes} bytes", str(path))
    return content


def read_beneath(root: Path, relative: str, limit_bytes: int = 1 << 20) -> str | None:
    """The text of a regular file below `root`, following no link on the way; nothing if there is none.

    For files an agent could have replaced by links or pipes.
    """
    above, _, name = relative.rpartition("/")
    try:
        folder = open_folder(root, above)
    except OSError:
        return None
    try:
        file = os.open(name, _PLAIN, dir_fd=folder)
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
