"""What a program may reach. Everything that is not granted is out of its sight."""

from dataclasses import dataclass, field
from enum import StrEnum


class Sandbox(StrEnum):
    """What keeps programs from the rest of the machine, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    CONTAINER = "container"
    LANDLOCK = "landlock"
    """Reduced: an agent can damage its own git dir, and nothing else."""
    NONE = "none"
    """A person said so: programs can do whatever the user can."""


@dataclass(frozen=True, slots=True)
class Door:
    """One way out of the network that a program is alone in."""

    port: int
    """On 127.0.0.1, where the program finds it."""
    socket: str
    """The unix socket on the host that connections are passed on to."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the machine a program and all it starts may use. 0: no limit."""

    memory_bytes: int = 0
    processes: int = 0
    disk_bytes: int = 0
    """In the folders it may write to, looked at now and then; reaching it ends the program."""


NO_LIMITS = Limits()


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
    doors: tuple[Door, ...] = ()
    limits: Limits = field(default_factory=Limits)
