"""The user that programs run as when Interlock runs as root: one who owns nothing on this machine.

Root inside a sandbox is root outside for all that goes by the user's number: settings of the kernel, devices,
files. So root starts no agent, check or set-up under its own number. Where that is impossible none starts.
"""

import functools
import os
import pwd
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from interlock.model.errors import EnvironmentProblem
from interlock.model.sandbox import Grant
from interlock.sandbox.toolchains import SYSTEM, Toolchains, is_below

FIRST, COUNT = 1_879_100_000, 100
"""Candidates for the number, which systemd's list of users' numbers shows as unused."""
HELD = ("unshare", "--user", "sh", "-c", "echo; read _")
"""A process that is in a new user namespace when it has said something, and until its input ends."""


class NoUnprivilegedUser(EnvironmentProblem):
    """Interlock runs as root and cannot start programs as another user."""

    code = "no-sandbox"
    retryable = False


@dataclass(frozen=True, slots=True)
class Unprivileged:
    """A user without rights, and how root's files become this user's in a mount."""

    uid: int
    mapping: int
    """An open user namespace that maps the one to the other."""


@functools.cache
def unprivileged() -> Unprivileged | None:
    """The user for programs; None if we are not root ourselves."""
    if not is_root():
        return None
    uid = free_number()
    try:
        return Unprivileged(uid, _mapping(uid))
    except (OSError, subprocess.SubprocessError) as error:
        raise NoUnprivilegedUser(f"root cannot start programs as an unprivileged user: {error}") from error


def demotion(grant: Grant, toolchains: Toolchains) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Words for the process that becomes a program, and open files for it. None if we are not root."""
    user = unprivileged()
    if user is None:
        return (), ()
    mapping = os.dup(user.mapping)
    reach = zip(("own", "show", "see"), _reach(grant, toolchains), strict=True)
    words = (f"{kind}={path}" for kind, paths in reach for path in paths)
    return (f"as={user.uid}={mapping}", *words), (mapping,)


def _reach(grant: Grant, toolchains: Toolchains) -> tuple[Iterator[str], ...]:
    """The paths to change, those to read, and those to read if that can be. All users read the system's."""
    layers = (os.path.commonpath((each.upper, each.work, each.merged)) for each in grant.overlays)
    written = (mount.source for mount in grant.mounts if mount.writable)
    shown = (mount.source for mount in grant.mounts if not mount.writable)
    own = (*grant.write, *((grant.home,) if grant.home else ()), *layers, *written)
    below = (lower for each in grant.overlays for lower in each.lower)
    see = (*grant.read, *toolchains.folders, *shown)
    return tuple((path for path in paths if not is_below(path, SYSTEM)) for paths in (own, below, see))


def is_root() -> bool:
    """Tell if we are the machine's root, and not only root of an ordinary user's namespace.

    The kernel's settings are the machine's root's: in a namespace they are ours only if its root is that one.
    """
    if os.geteuid() != 0:
        return False
    try:
        return Path("/proc/sys/kernel").stat().st_uid == 0
    except OSError:
        return True


def free_number(subordinate: Iterable[Path] = (Path("/etc/subuid"), Path("/etc/subgid"))) -> int:
    """A number that is no user's and in no user's range."""
    taken = [ids for file in subordinate for ids in _ranges(file)]
    for number in range(FIRST, FIRST + COUNT):
        if not _is_known(number) and not any(number in ids for ids in taken):
            return number
    raise NoUnprivilegedUser("root cannot start programs as an unprivileged user: no number is free for one")


def _is_known(number: int) -> bool:
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True


def _ranges(file: Path) -> list[range]:
    try:
        rows = [line.split(":") for line in file.read_text(errors="replace").splitlines()]
        return [range(int(row[1]), int(row[1]) + int(row[2])) for row in rows if len(row) == 3]
    except (OSError, ValueError):
        return []


def _mapping(uid: int) -> int:
    """A user namespace that swaps root and the user; all others stay, and their files are shown as theirs.

    Root keeps a number there: the kernel itself makes files for an overlay, as the one who mounted it.
    """
    reading, writing = os.pipe()
    try:
        with subprocess.Popen(HELD, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE) as held:
            os.close(writing)
            if not os.read(reading, 1):
                raise OSError(os.fsdecode(held.communicate()[1]).strip())
            for name in ("uid_map", "gid_map"):
                Path(f"/proc/{held.pid}/{name}").write_text(f"0 {uid} 1\n1 1 {uid - 1}\n{uid} 0 1\n")
            namespace = os.open(f"/proc/{held.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
            held.communicate()
            return namespace
    finally:
        os.close(reading)
