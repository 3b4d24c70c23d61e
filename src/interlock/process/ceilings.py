"""Resource limits for a program and all that it starts, and the means that enforce them.

1. Memory and processes: the kernel, by a cgroup, where this user may make one: then they count for the whole
   tree. Where not, each process has the limit for itself, which is less: RLIMIT_DATA, because programs with
   garbage collectors reserve far more addresses (RLIMIT_AS) than they ever use memory.
2. Processes without a cgroup: RLIMIT_NPROC. It counts a sandbox's own processes only (Linux 5.14 on), and
   does not hold for root.
3. A cgroup whose maker is gone is removed by the next one that is made.
"""

import contextlib
import functools
import os
import resource
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from interlock.model.sandbox import Limits

CGROUPS = Path("/sys/fs/cgroup")
PREFIX = "interlock-"
MEMORY, PROCESSES = "memory", "pids"

_LOOKING = threading.Lock()
"""Two that looked at once would take each other's trial away."""

_FILES = {
    # controller, version: (the limit's file, the file that counts kills)
    (MEMORY, 1): ("memory.limit_in_bytes", "memory.oom_control"),
    (MEMORY, 2): ("memory.max", "memory.events"),
    (PROCESSES, 1): ("pids.max", ""),
    (PROCESSES, 2): ("pids.max", ""),
}


@dataclass(frozen=True, slots=True)
class Parent:
    """A cgroup in which this user may make others."""

    folder: Path
    version: int


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The limits of one program."""

    words: tuple[str, ...] = ()
    """Words for the supervisor."""
    groups: tuple[Path, ...] = ()
    memory: Path | None = None
    """The file that counts what was killed for want of memory."""

    @property
    def ran_out_of_memory(self) -> bool:
        """Tell if the kernel killed something because the limit was reached."""
        try:
            lines = self.memory.read_text().splitlines() if self.memory else []
        except OSError:
            return False
        return any(line.startswith("oom_kill ") and line != "oom_kill 0" for line in lines)

    def remove(self) -> None:
        for group in self.groups:
            with contextlib.suppress(OSError):
                group.rmdir()


NO_CEILING = Ceiling()


def raise_ceiling(limits: Limits, name: str, parents: Mapping[str, Parent] | None = None) -> Ceiling:
    """Make the limits that this user can make; `name` is unique."""
    parents = cgroup_parents() if parents is None else parents
    wanted = {MEMORY: limits.memory_bytes, PROCESSES: limits.processes}
    groups: dict[Path, None] = {}
    unmet: dict[str, int] = {}
    memory: Path | None = None
    for controller, most in wanted.items():
        parent = parents.get(controller)
        if not most:
            continue
        if parent is None or (group := _made(parent, controller, most, name)) is None:
            unmet[controller] = most
            continue
        groups[group] = None
        if controller == MEMORY:
            memory = group / _FILES[MEMORY, parent.version][1]
    words = (*(f"join={group}/cgroup.procs" for group in groups), *_resource_limits(unmet))
    return Ceiling(words, tuple(groups), memory)


def _resource_limits(unmet: Mapping[str, int]) -> Iterator[str]:
    if MEMORY in unmet:
        yield f"limit={resource.RLIMIT_DATA}={unmet[MEMORY]}"
    if PROCESSES in unmet and os.geteuid() != 0:
        yield f"limit={resource.RLIMIT_NPROC}={unmet[PROCESSES]}"


def _made(parent: Parent, controller: str, most: int, name: str) -> Path | None:
    group = parent.folder / f"{PREFIX}{os.getpid()}-{name}"
    try:
        group.mkdir(exist_ok=True)
        (group / _FILES[controller, parent.version][0]).write_text(str(most))
    except OSError:
        with contextlib.suppress(OSError):
            group.rmdir()
        return None
    return group


def cgroup_parents() -> Mapping[str, Parent]:
    """Return the folders in which cgroups can be made, by controller. Tried once; thread-safe."""
    with _LOOKING:
        return _cgroup_parents()


@functools.cache
def _cgroup_parents() -> Mapping[str, Parent]:
    found = {controller: parent for controller, parent in _candidates() if _works(parent, controller)}
    for parent in found.values():
        _sweep(parent.folder)
    return found


def _candidates() -> Iterator[tuple[str, Parent]]:
    """Yield the candidates from the farthest to the nearest, so that the nearest decides."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        own = path.strip("/")
        if not controllers:
            root = CGROUPS if (CGROUPS / "cgroup.controllers").exists() else CGROUPS / "unified"
            for folder in reversed([root / own, *_above(root / own, root)]):
                yield from ((controller, Parent(folder, 2)) for controller in (MEMORY, PROCESSES))
        for controller in {MEMORY, PROCESSES} & set(controllers.split(",")):
            yield controller, Parent(CGROUPS / controllers / own, 1)


def _above(folder: Path, root: Path) -> Iterator[Path]:
    """A group with processes of its own hands on nothing (version 2): one further up may."""
    while folder != root:
        folder = folder.parent
        yield folder


def _works(parent: Parent, controller: str) -> bool:
    group = _made(parent, controller, 1 << 40 if controller == MEMORY else 1 << 20, "trial")
    if group is None:
        return False
    joined = subprocess.run(
        ("/bin/sh", "-c", 'echo 0 > "$1"', "sh", str(group / "cgroup.procs")),
        capture_output=True,
        check=False,
    )
    with contextlib.suppress(OSError):
        group.rmdir()
    return joined.returncode == 0


def _sweep(folder: Path) -> None:
    for group in folder.glob(f"{PREFIX}*"):
        owner = group.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def ceilings_in_words() -> dict[str, str]:
    """Name for each limit the mechanism that enforces it here."""
    parents = cgroup_parents()
    processes = "by RLIMIT_NPROC" if os.geteuid() else "not limited for root"
    return {
        "memory": "cgroup" if MEMORY in parents else "each process by itself",
        "processes": "cgroup" if PROCESSES in parents else processes,
        "disk": "counted in blocks with open files, more often near the limit and at the end",
    }
