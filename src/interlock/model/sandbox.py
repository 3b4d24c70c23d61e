"""The permissions of a program. Everything that is not granted is invisible to it."""

from dataclasses import dataclass, field
from enum import StrEnum


class Sandbox(StrEnum):
    """The kinds of sandbox, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    CONTAINER = "container"
    LANDLOCK = "landlock"
    """Reduced: an agent can damage its own git dir, and nothing else."""
    NONE = "none"
    """A person said so: programs can do whatever the user can."""


@dataclass(frozen=True, slots=True)
class ForwardedPort:
    """One way out of the network that a program is alone in."""

    port: int
    """On 127.0.0.1, where the program finds it."""
    socket: str
    """The unix socket on the host that connections are passed on to."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the machine's resources for a program and all it starts. 0: no limit."""

    memory_bytes: int = 0
    processes: int = 0
    disk_bytes: int = 0
    """The most in the folders it may write to, counted at intervals; reaching it ends the program."""


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Overlay:
    """Several folders shown as one. What a program changes there is written to `upper` and nowhere else."""

    lower: tuple[str, ...]
    """The read-only folders; of two files with the same path the first one counts."""
    upper: str
    work: str
    """An empty folder on the same disk as `upper`, for the kernel."""
    merged: str
    """The mount point, made by the supervisor: an empty folder, and nothing is seen there from outside."""
    at: str
    """The path at which the program finds it."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder that the program finds at another path."""

    source: str
    at: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """The files, the ways out and the share of the machine that a program is given."""

    write: tuple[str, ...] = ()
    """Folders it may change. They keep their path."""
    protect: tuple[str, ...] = ()
    """Files and folders inside those that it may read only."""
    read: tuple[str, ...] = ()
    """More that it may read, besides the system's own programs: toolchains, shared objects."""
    home: str = ""
    """The folder that is its HOME and outlives it; empty: one that is gone with it."""
    forwarded_ports: tuple[ForwardedPort, ...] = ()
    limits: Limits = field(default_factory=Limits)
    overlays: tuple[Overlay, ...] = ()
    mounts: tuple[Mount, ...] = ()
    """Put in place in this order, after the overlays."""

    @property
    def on_disk(self) -> tuple[str, ...]:
        """Everything that the program can fill, as it is named outside."""
        uppers = (overlay.upper for overlay in self.overlays)
        mounted = (mount.source for mount in self.mounts if mount.writable)
        return (*self.write, *((self.home,) if self.home else ()), *uppers, *mounted)

    @property
    def changeable(self) -> tuple[str, ...]:
        """The folders that it may change, as it knows them itself."""
        mounted = (mount.at for mount in self.mounts if mount.writable)
        return (*self.write, *(overlay.at for overlay in self.overlays), *mounted)

    @property
    def seen(self) -> tuple[str, ...]:
        """The files and folders that it was given to read, as it knows them itself."""
        return (*self.read, *(mount.at for mount in self.mounts))
