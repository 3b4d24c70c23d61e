"""Identity of a process: one start of it, never used again.

An incarnation names the machine, its boot, the process namespace, the pid and when that pid started, so that
another process on the same machine can tell for sure that it is gone. A process elsewhere cannot, and waits
for the lease. Host names are not unique, so a machine is also known by an id of its own where it has one.
"""

import hashlib
import os
import platform
import uuid
from collections.abc import Iterable
from pathlib import Path

from interlock.model.claim import CONTROLLER, Held

BOOT_SECONDS = 60
"""Boot times nearer than this may be the same boot: without /proc they are reckoned from the clock."""


def new_incarnation() -> str:
    """A fresh identity for this process."""
    return "/".join((*_place(), str(os.getpid()), _started(os.getpid()), uuid.uuid4().hex[:12]))


def is_dead(incarnation: str) -> bool:
    """Return True if this process is known to have ended."""
    parts = incarnation.split("/")
    if len(parts) != 6:
        return False
    host, boot, namespace, pid, started, _ = parts
    here = _place()
    if host != here[0]:
        return False
    if not is_same_boot(boot, here[1]):
        return True  # this machine has been started anew since
    if namespace != here[2]:
        return False
    return _started(int(pid)) != started


def in_charge(held: Iterable[Held]) -> Held | None:
    """The controller that may be alive, if there is one."""
    rows = (row for row in held if row.claim.resource == CONTROLLER)
    return next((row for row in rows if _seems_alive(row)), None)


def _seems_alive(row: Held) -> bool:
    return row.expires_in_seconds > 0 and not row.clock_was_set and not is_dead(row.claim.holder)


def is_same_boot(one: str, other: str) -> bool:
    """Return True if two names mean the same start of a machine. Setting the clock moves a boot time."""
    if one.startswith("t") and other.startswith("t"):
        return abs(int(one[1:]) - int(other[1:])) < BOOT_SECONDS
    return one == other


def _place() -> tuple[str, str, str]:
    host = platform.node().replace("/", "-").replace("~", "-") or "localhost"
    if machine := _machine():
        host = f"{host}~{machine}"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
        namespace = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:  # not Linux
        import psutil  # noqa: PLC0415 - 40 ms that Linux need not spend

        boot, namespace = f"t{int(psutil.boot_time())}", "0"
    return host, boot, namespace


def _machine() -> str:
    """An id that no other machine has; '' where there is none. Hashed: the id itself stays here."""
    try:
        id = Path("/etc/machine-id").read_text().strip()
    except OSError:
        return ""
    return hashlib.sha256(f"interlock {id}".encode()).hexdigest()[:12] if id else ""


def _started(pid: int) -> str:
    """Return the start of a pid, in a unit that no clock change touches; '' if there is no such process."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        # A zombie has ended: only its parent has not asked how.
        return "" if state in ("Z", "X") else fields[18]
    except OSError:
        return "" if Path("/proc/self").exists() else _started_elsewhere(pid)


def _started_elsewhere(pid: int) -> str:
    """Return the start of a pid where there is no /proc."""
    import psutil  # noqa: PLC0415 - 40 ms that Linux need not spend

    try:
        process = psutil.Process(pid)
        return "" if process.status() == psutil.STATUS_ZOMBIE else str(int(process.create_time()))
    except psutil.Error:
        return ""
