"""The folders that a program may write to: how much is in them, and how they are removed.

What counts is what is taken on the disk (blocks, not lengths), by whatever the program can hide it behind:

1. A folder that was shut, or whose path is too long for the kernel, is counted by `du`, which goes from one
   folder to the next; as a user in a namespace where it may read all that is the user's own.
2. A file that has lost its name takes its room until it is closed: it is found where it is open or mapped.
3. Files in memory are not on the disk. Their file systems have sizes of their own.
"""

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

REMOVE_SECONDS = 60.0
COUNT_SECONDS = 60.0
BLOCK_BYTES = 512
"""The unit of `st_blocks`. An empty file counts as one: it takes an inode."""
IN_MEMORY = ("/memfd:", "/SYSV", "/dev/zero", "anon_inode:")


def used_bytes(folders: Iterable[str], most: int, supervisor: int = 0) -> int:
    """Sum up their blocks on disk, with nameless files of a supervisor's processes; counting ends once it is
    more than `most`. More than that, too, if it cannot be counted: nothing else is known of it."""
    total = _nameless_bytes(supervisor) if supervisor else 0
    roots = [folder for folder in dict.fromkeys(folders) if Path(folder).is_dir()]
    waiting, linked = [*roots], set[tuple[int, int]]()
    while waiting and total <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen = entry.stat(follow_symlinks=False)
                    is_folder = stat.S_ISDIR(seen.st_mode)
                    if is_folder:
                        waiting.append(entry.path)
                    elif seen.st_nlink > 1:
                        if (seen.st_dev, seen.st_ino) in linked:
                            continue
                        linked.add((seen.st_dev, seen.st_ino))
                    total += max(seen.st_blocks, 1) * BLOCK_BYTES
        except (FileNotFoundError, NotADirectoryError):
            continue  # it goes away while we look
        except OSError:
            return _counted_by_du(roots, most)
    return total


def _counted_by_du(roots: list[str], most: int) -> int:
    """Rule 1."""
    ours = () if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user")
    words = (*ours, "du", "-scB1", "--", *roots)
    try:
        done = subprocess.run(words, capture_output=True, timeout=COUNT_SECONDS, check=False)
        unreadable = b"cannot read" in done.stderr or b"cannot access" in done.stderr
        total = int(done.stdout.splitlines()[-1].split()[0])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError):
        return most + 1
    return max(total, most + 1) if unreadable else total


def _nameless_bytes(supervisor: int) -> int:
    """Rule 2: the room of all files without a name that processes below this one hold."""
    found: dict[tuple[int, int], int] = {}
    for home in _below(Path("/proc", str(supervisor))):
        with contextlib.suppress(OSError):  # it ends while we look
            nameless = dict(_open_nameless(home))
            # No room is known of a file that is only mapped: it has at least what is mapped of it.
            mapped = {key: size for key, size in _mapped_nameless(home).items() if key not in found}
            if nameless or mapped:
                memory = set(_in_memory(home))
                both = {**mapped, **nameless}
                found |= {key: size for key, size in both.items() if key[0] not in memory}
    return sum(found.values())


def _below(supervisor: Path) -> Iterator[Path]:
    """Every process that one started, and they. The kernel's own list: psutil reads all of the machine's."""
    waiting = [supervisor]
    while waiting:
        for thread in _entries(waiting.pop() / "task"):
            with contextlib.suppress(OSError):  # it ends while we look
                found = [Path("/proc", pid) for pid in (thread / "children").read_text().split()]
                yield from found
                waiting += found


def _entries(folder: Path) -> list[Path]:
    """List a folder; none if it is gone."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _open_nameless(home: Path) -> Iterator[tuple[tuple[int, int], int]]:
    with os.scandir(home / "fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                seen = entry.stat()
                is_nameless = stat.S_ISREG(seen.st_mode) and not seen.st_nlink
                if is_nameless and not str(Path(entry.path).readlink()).startswith(IN_MEMORY):
                    yield (seen.st_dev, seen.st_ino), seen.st_blocks * BLOCK_BYTES


def _mapped_nameless(home: Path) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for line in (home / "maps").read_bytes().splitlines():
        if line.endswith(b" (deleted)"):
            reach, _, _, device, inode, name = line.split(None, 5)
            if not os.fsdecode(name).startswith(IN_MEMORY):
                start, _, end = reach.partition(b"-")
                major, _, minor = device.partition(b":")
                key = os.makedev(int(major, 16), int(minor, 16)), int(inode)
                found[key] = found.get(key, 0) + int(end, 16) - int(start, 16)
    return found


def _in_memory(home: Path) -> Iterator[int]:
    """Rule 3: the numbers of file systems that are memory."""
    for line in (home / "mountinfo").read_text(errors="replace").splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("tmpfs "):
            major, _, minor = before.split()[2].partition(":")
            yield os.makedev(int(major), int(minor))


def remove_folder(path: str) -> None:
    """Remove a folder that a program has written to, as far as that is possible, however deep it is."""
    with contextlib.suppress(RecursionError):  # Python gives up at a thousand folders in each other
        shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        words = ("rm", "-rf", "--", path)
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(words, capture_output=True, timeout=REMOVE_SECONDS, check=False)
