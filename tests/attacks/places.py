"""Looks for what another attempt or check left, and for places of the host that both could write to.

It leaves marks in folders of its own alone. Of the host's it asks whether they could be written to.
"""

import ctypes
import errno
import json
import os
import sys
from pathlib import Path

NAME = "interlock-planted"
HOME = Path(os.environ.get("HOME", "/"))
OWN = (
    *map(Path, (".", ".git", ".git/objects", ".git/objects/info", ".git/refs/heads", ".git/hooks")),
    *map(Path, (".git/info", "node_modules", "node_modules/made")),
    *(HOME / name for name in ("", ".cache", ".config", ".local")),
    Path(os.environ.get("TMPDIR", "/")),
)
HOSTS = (
    *("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/dev/mqueue", "/run", "/run/lock"),  # noqa: S108 - not used
    *("/run/user", "/home", "/root", "/etc", "/usr/local/bin", "/opt", "/mnt", "/var", "/var/cache"),
)
IPC = Path("/proc/self/ns/ipc")
KEY = 0x1E71
CALLS = {"shmget": (KEY, 1, 0), "semget": (KEY, 1, 0), "msgget": (KEY, 0)}
"""Without the flag that would make one."""


def identities() -> dict[str, list[int]]:
    """Which folders these are, here."""
    there = {place: Path(place).stat() for place in HOSTS if os.access(place, os.F_OK)}
    return {place: [seen.st_dev, seen.st_ino] for place, seen in there.items()}


def can_open(path: str, flags: int) -> bool:
    """Is it opened. Nothing is written."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | flags, 0o600))
    except OSError:
        return False
    return True


def shared(host: dict[str, list[int]], terminals: list[str], ipc: str) -> list[str]:
    """What is the host's, and could be written to."""
    here = identities()
    same = (place for place in HOSTS if here.get(place) == host.get(place, 0))
    found = [place for place in same if can_open(place, os.O_TMPFILE)]
    found += [name for name in terminals if can_open(name, 0)]
    if str(IPC.readlink()) == ipc:
        libc = ctypes.CDLL(None, use_errno=True)
        for name, words in CALLS.items():
            if getattr(libc, name)(*words) >= 0 or ctypes.get_errno() == errno.ENOENT:
                found.append(name)
    return found


def main() -> int:
    host = json.loads(Path("host.json").read_text())
    found = [str(place) for place in OWN if os.path.lexists(place / NAME)]
    found += shared(host["folders"], host["terminals"], host["ipc"])
    left = []
    for place in OWN:
        if place != Path() or "agent" not in sys.argv:  # else it would be in the commit, as it should
            try:
                (place / NAME).touch()
                left.append(str(place))
            except OSError:
                continue
    sys.stdout.write(f"found: {' '.join(found)}\nleft: {' '.join(left)}\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
