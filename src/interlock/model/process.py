"""A command with its limits, its exit, and the Protocol that runs it."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from interlock.model.errors import StaleEpoch
from interlock.model.sandbox import Grant


class Ended(StrEnum):
    """The reason that a program is no longer running."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    IDLE = "idle"
    OUTPUT = "output"
    LEASE = "lease"
    """Its lease was not renewed in time."""
    MEMORY = "memory"
    """The kernel killed it: it and what it started took more memory than its limit."""
    DISK = "disk"
    """The program wrote more than its limit into its folders."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run in a directory, with its limits."""

    argv: tuple[str, ...]
    directory: str
    log: str
    """The file its output is appended to."""
    env: dict[str, str] = field(default_factory=dict)
    timeout_seconds: float = 1800.0
    idle_seconds: float = 0.0
    """0: silence is allowed."""
    lease_seconds: float = 0.0
    """Not renewed (`Processes.lease`) for this long: the whole tree ends by itself. 0: no lease."""
    key: Hashable = ""
    """Names it for `send` and `hang_up`."""
    pid_file: str = ""
    """The file that names the process to end while it runs, for a cleanup after a crash."""
    grant: Grant | None = None
    """Its permissions; None: it is ours, and needs no sandbox."""
    listens: bool = False
    """Its standard input stays open for `Processes.send`; else there is none."""
    sealed: bool = False
    """Its input and output are a protocol: no child of it may open its standard input or output by name,
    as programs do with /dev/stdout."""
    grace: bool = True
    """On cancellation, ask it to end and give it time before it is killed."""


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a program."""

    ended: Ended
    code: int
    """The exit status, or minus the signal."""
    seconds: float
    tail: str
    log_bytes: int = 0

    @property
    def signal(self) -> int:
        """The signal that ended it, also as a shell or a sandbox reports it; 0 if none did."""
        return -self.code if self.code < 0 else self.code - 128 if 128 < self.code <= 128 + 64 else 0


# The controller's lease as its own process keeps it: one clock for all agents and checks of a run.


class Lease:
    """The time for which this process is sure to be in charge. Its agents and checks end before that."""

    def __init__(self, clock: Callable[[], float], renewed: Callable[[float], None] = lambda _: None) -> None:
        """`clock` goes on while the machine sleeps. `renewed` hears the seconds from now on."""
        self.now = clock
        self._renewed = renewed
        self._ends: float | None = None

    def renew(self, seconds: float, since: float | None = None) -> None:
        """Let it end so long after `since`, when the database was asked; without that, from now on."""
        now = self.now()
        self._ends = (now if since is None else since) + seconds
        self._renewed(self._ends - now)

    def left(self, what: str) -> float:
        """Return the seconds that are left; 0 if no lease was ever taken. `StaleEpoch` if it is over."""
        if self._ends is None:
            return 0.0
        if (left := self._ends - self.now()) <= 0:
            raise StaleEpoch(f"{what}: its lease was over before it started")
        return left


class Processes(Protocol):
    """Runs programs so that their whole process tree ends with them. Cancelling `run` ends the tree too."""

    lease: Lease
    """Keeps all programs with a lease alive."""

    async def run(self, command: Command, on_line: Callable[[str], None] | None = None) -> Exit: ...

    def send(self, key: Hashable, text: str) -> bool:
        """Write to the standard input of a program that listens; False if it is not there to hear it."""
        ...

    def hang_up(self, key: Hashable) -> None:
        """Close the program's standard input."""
        ...

    async def end_survivors(self, pid_file: str) -> None:
        """End what an earlier process, which may be dead or stopped, started and noted there."""
        ...


INHERITED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "XDG_*",
    "SSL_CERT_*",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)
"""Variables of the host's environment that programs get: places and languages, never credentials."""


def inherit(env: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """The part of `env` that programs may see: the list above and `extra`. A name may end in `*`."""
    names = (*INHERITED, *extra)
    exact = {name for name in names if not name.endswith("*")}
    starts = tuple(name[:-1] for name in names if name.endswith("*"))
    return {name: value for name, value in env.items() if name in exact or name.startswith(starts)}
