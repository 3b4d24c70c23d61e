"""Measures the memory and processors left, and the number of agents that is enough for (the host brake).

Rules:
1. Memory and disk that run short end programs, so they always count. Processors that are waited for only make
   all programs slow, so they count where no person has set the number of agents.
2. It falls at once and rises by one after `SETTLE_SECONDS` of calm: what an agent takes shows only later.
3. It ends no agent, and never goes below one.
"""

import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from interlock.events.state_parts import Limit
from interlock.learn.clutch import Advice, Brake
from interlock.model.reason import Reason, Why

SESSION_BYTES = 512 << 20
"""Memory of an agent program with the tools it starts, until it is measured: the usual ones run on Node and
have 250 to 500 MiB."""
RESERVE_BYTES = 1 << 30
RESERVE_SHARE = 0.1
"""Share of all memory that is left for the checks and for the person who works here."""
STALLED, CALM_STALLED = 0.1, 0.02
"""Share of the last ten seconds in which a program waited for memory."""
BUSY, CALM_BUSY = 0.95, 0.7
"""Share of the last minute in which a program waited for a processor."""
SETTLE_SECONDS = 10.0
READ_SECONDS = 1.0
MOST_FILES = 8192
"""Open files that this process may have, if the system allows it. Of the 1024 that many shells allow, a dozen
agents use up half with connections to their models."""
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class HostReading:
    """The machine at one moment. Figures that the system does not give are those of an idle machine."""

    total_bytes: int = 0
    """0: nothing is known of the memory."""
    available_bytes: int = 0
    memory_stalled: float = 0.0
    cpu_stalled: float = 0.0
    cores: int = 1
    disk_free_bytes: int = 0
    """On the disk of the workspaces."""
    disk_reserve_bytes: int = 0
    """With less than this free, no further agent starts. 0: there is no limit, or the disk is unknown."""

    @property
    def is_disk_low(self) -> bool:
        return self.disk_free_bytes < self.disk_reserve_bytes

    @property
    def room(self) -> int:
        """Number of agents that the free memory is enough for; below 0 it is short already."""
        reserve = max(RESERVE_BYTES, int(self.total_bytes * RESERVE_SHARE))
        return (self.available_bytes - reserve) // SESSION_BYTES if self.total_bytes else 1_000


def allow_open_files() -> None:
    """Raise the limit on open files of this process and of those that it starts."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(MOST_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class Host(Protocol):
    """Looks at the machine."""

    def read(self) -> HostReading:
        """Read the current figures."""
        ...


class IdleHost:
    """A machine on which there is always room."""

    def read(self) -> HostReading:
        return HostReading(cores=1_000)


class LocalHost:
    """This machine, by the figures of the kernel."""

    def __init__(self, folder: Path | None = None, disk_reserve_bytes: int = 0) -> None:
        """`folder`: the one with the workspaces."""
        self._folder = folder
        self._reserve = disk_reserve_bytes

    def read(self) -> HostReading:
        memory = _meminfo()
        return HostReading(
            memory.get("MemTotal", 0),
            memory.get("MemAvailable", 0),
            _pressure("memory", "avg10"),
            _pressure("cpu", "avg60") if sys.platform == "linux" else _load_pressure(),
            os.cpu_count() or 1,
            *self._disk(),
        )

    def _disk(self) -> tuple[int, int]:
        """Return the free space and the reserve; nothing where the folder cannot be looked at."""
        if not self._reserve or self._folder is None:
            return 0, 0
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return 0, 0
        return found.f_bavail * found.f_frsize, self._reserve


def safe_most(reading: HostReading) -> int:
    """Return the number of agents when the user sets none: as many as memory and processors should bear. An
    agent mostly waits for its model; its checks do not."""
    return max(1, min(AT_MOST, reading.room, AGENTS_A_CORE * reading.cores))


AT_MOST, AGENTS_A_CORE = 30, 8


@dataclass(frozen=True, slots=True)
class Load:
    """Agents at work, and the most that may be."""

    busy: int
    most: int
    before: Limit | None
    """The last limit of all agents together."""
    is_auto: bool = False


def host_step(reading: HostReading, load: Load, now: float) -> Advice | None:
    """Return the change of the number of all agents that the machine calls for; None: no change."""
    braked = load.before if load.before and load.before.brake == Brake.HOST else None
    current = min(braked.limit, load.most) if braked else load.most
    settled = braked is None or now - braked.time >= SETTLE_SECONDS
    if trouble := _trouble(reading, load):
        holds = max(1, load.busy + min(0, reading.room))
        if current > max(1, load.busy) or (settled and holds < current):
            return Advice(min(holds, current), Brake.HOST, Reason(Why.HOST_BUSY, {"cause": trouble}))
        return None
    if load.busy + reading.room < current:
        why = Reason(Why.MEMORY_FOR, {"free_bytes": reading.available_bytes, "agents": reading.room})
        return Advice(max(1, load.busy + reading.room), Brake.HOST, why)
    if braked and settled and _is_calm(reading, load):
        if current + 1 >= load.most:
            return Advice(load.most, Brake.MAX_PARALLEL, Reason(Why.HOST_CALM))
        return Advice(current + 1, Brake.HOST, Reason(Why.HOST_CALM, {"seconds": SETTLE_SECONDS}))
    return None


def _trouble(reading: HostReading, load: Load) -> Reason | None:
    if reading.is_disk_low:
        sizes = {"free_bytes": reading.disk_free_bytes, "reserve_bytes": reading.disk_reserve_bytes}
        return Reason(Why.DISK_LOW, sizes)
    if reading.room < 1:
        sizes = {"free_bytes": reading.available_bytes, "total_bytes": reading.total_bytes}
        return Reason(Why.MEMORY_LOW, sizes)
    if reading.memory_stalled > STALLED:
        return Reason(Why.STALLED, {"resource": "memory", "share": reading.memory_stalled, "seconds": 10})
    if load.is_auto and reading.cpu_stalled > BUSY:
        return Reason(Why.STALLED, {"resource": "processor", "share": reading.cpu_stalled, "seconds": 60})
    return None


def _is_calm(reading: HostReading, load: Load) -> bool:
    is_idle = not load.is_auto or reading.cpu_stalled < CALM_BUSY
    return reading.room >= 2 and reading.memory_stalled < CALM_STALLED and is_idle


def _meminfo() -> dict[str, int]:
    """Bytes by name; nothing where the kernel has no such file."""
    try:
        lines = (PROC / "meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    found = (line.replace(":", " ").split() for line in lines)
    return {words[0]: int(words[1]) * 1024 for words in found if len(words) == 3 and words[2] == "kB"}


def _pressure(what: str, span: str) -> float:
    """Return the share of the time in which a program waited; 0 if the kernel does not report it."""
    try:
        line = (PROC / "pressure" / what).read_text(encoding="ascii").splitlines()[0]
    except (OSError, IndexError):
        return 0.0
    figures = dict(word.split("=") for word in line.split()[1:])
    return float(figures.get(span, 0.0)) / 100


def _load_pressure() -> float:
    """The nearest that a kernel without pressure figures has to say."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return max(0.0, 1 - cores / load) if load else 0.0
