"""Makes a process of root's that of an unprivileged user, who owns what was granted and nothing else.

Loaded by the supervisor and by the Landlock launcher, in the process that becomes the program. Standard
library only, and little of it.

1. Nothing on the disk changes its owner. Each granted folder is mounted over itself with its owner mapped:
   what root owns is the user's there, and what the user makes is root's on the disk.
2. The mounts are in a namespace of this process and its children: no other process sees them, and they end
   with it.
3. A folder on the way that the user may not pass through (`/root`) is covered by an empty one, in which only
   the way to what was granted exists.
"""

# ruff: noqa: PTH103, PTH110, PTH116, PTH120 - pathlib costs more to import than all the rest here

import ctypes
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
NEW_MOUNTS, RECURSIVE_PRIVATE = 0x20000, 0x4000 | 0x40000
CLONE, CLOSE_ON_EXEC, RECURSIVE, EMPTY_PATH, FROM_THE_FILE_ITSELF = 1, 0o2000000, 0x8000, 0x1000, 4
HERE = -100
READ_ONLY, NO_SUID, NO_DEVICES, MAPPED = 1, 2, 4, 0x100000
NO_SUID_NO_DEVICES = 2 | 4
"""Options as `mount` numbers them."""

kernel = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users"))


def must(answer: int, what: str) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)
    return answer


def stage(words: "Mapping[str, list[str]]") -> None:
    """Give the user the paths to change (`own`), to read (`show`), and to read if that can be (`see`)."""
    mapping = int(words["as"][0].partition("=")[2])
    must(kernel.unshare(NEW_MOUNTS), "mount namespace")
    must(kernel.mount(b"none", b"/", None, ctypes.c_ulong(RECURSIVE_PRIVATE), None), "mount namespace")
    kinds = {path: kind for kind in ("see", "show", "own") for path in words.get(kind, ())}
    trees = [
        (place, cloned(place, kind, mapping))
        for path, kind in outermost(kinds).items()
        if os.path.exists(path)  # what is missing is said by the sandbox, as it is for an ordinary user
        # Programs may name it by a link, which is not there where the link's folder is covered.
        for place in sorted({path, os.path.realpath(path)})
    ]
    covers = {cover for place, _ in trees if (cover := first_closed(place))}
    mask = os.umask(0o022)
    for cover in covers:
        empty(cover, "mode=755")
    for place, tree in trees:
        if any(place.startswith(f"{cover}/") for cover in covers):
            make_way(place, tree)
        target = os.fsencode(place)
        must(kernel.syscall(MOVE_MOUNT, tree, b"", HERE, target, FROM_THE_FILE_ITSELF), place)
        os.close(tree)
    os.umask(mask)
    os.close(mapping)


def outermost(kinds: "Mapping[str, str]") -> dict[str, str]:
    """The paths that are in no other, each with the most that is asked of it or in it."""
    ranks = ("see", "show", "own")
    found: dict[str, str] = {}
    for path in sorted(kinds, key=lambda path: path.rstrip("/") + "/"):
        above = next((outer for outer in found if f"{path}/".startswith(f"{outer}/")), path)
        found[above] = max(found.get(above, "see"), kinds[path], key=ranks.index)
    return found


def cloned(path: str, kind: str, mapping: int) -> int:
    """A copy of the mount at the path, in which root's files are the user's."""
    flags = CLONE | CLOSE_ON_EXEC | RECURSIVE
    tree = must(kernel.syscall(OPEN_TREE, HERE, os.fsencode(path), flags), path)
    limits = NO_SUID | NO_DEVICES | (0 if kind == "own" else READ_ONLY)
    if changed(tree, Attributes(MAPPED | limits, 0, 0, mapping)) < 0:
        if kind != "see":
            must(-1, path)
        # This file system knows no mapping: the user reads what every user may.
        must(changed(tree, Attributes(limits, 0, 0, 0)), path)
    return tree


def changed(tree: int, attributes: Attributes) -> int:
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    flags = EMPTY_PATH | RECURSIVE
    return int(kernel.syscall(MOUNT_SETATTR, tree, b"", flags, ctypes.byref(attributes), size))


def first_closed(place: str) -> str:
    """The first folder on the way to a place that only its owner or group may pass through."""
    end = place.find("/", 1)
    while end > 0:
        if not os.stat(place[:end]).st_mode & stat.S_IXOTH:
            return place[:end]
        end = place.find("/", end + 1)
    return ""


def empty(place: str, options: str) -> None:
    """Mount an empty folder there."""
    flags = ctypes.c_ulong(NO_SUID_NO_DEVICES)
    must(kernel.mount(b"tmpfs", os.fsencode(place), b"tmpfs", flags, options.encode()), place)


def make_way(place: str, tree: int) -> None:
    """Make a folder, or an empty file, for the mount to be on."""
    if stat.S_ISDIR(os.fstat(tree).st_mode):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o600))


def become(uid: int) -> None:
    """Be that user for ever, in no other's group."""
    for number in (0, 1, 2):
        # Programs open these by name, too (/dev/stdout).
        if stat.S_ISFIFO(os.fstat(number).st_mode):
            os.fchown(number, uid, uid)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
