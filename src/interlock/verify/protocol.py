"""The interface of a checker, as the engine uses it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from interlock.model.outcome import CheckResult
from interlock.model.pace import Pace
from interlock.model.sandbox import ForwardedPort, Grant
from interlock.model.task import TaskId, Tree


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """Commands to run on one tree."""

    name: str
    """Names the evidence: task and attempt, or `base`."""
    tree: Tree
    commands: tuple[str, ...]
    timeout_seconds: float
    env: dict[str, str]
    leased: bool = False
    """True for checks of the controller: no command starts after its lease, and each ends within it."""
    pace: Mapping[str, Pace] = field(default_factory=dict)
    """Usual time and limit of each command, as far as they are known."""
    task: TaskId = TaskId("")
    """The task whose change it is about, if there is one."""
    watched: tuple[str, ...] = ()
    """Files of which to say whether the commands read them."""
    names_read: bool = False
    """Name those that they read too, so that it can be told for a part of them."""
    changed: tuple[str, ...] = ()
    """Files of the change: a command that edits one has not passed."""
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Globs of the files of the tree that a command sees; one that is not named here sees all."""
    forwarded_ports: tuple[ForwardedPort, ...] = ()
    """Ways out of the sandbox. Checks have none."""
    needs_setup: bool = True
    collect: Callable[[Path], None] | None = None
    """Takes files out of the folder that a command wrote to, after it passed and before that is removed."""


@dataclass(frozen=True, slots=True)
class RunningCheck:
    """A command that runs now."""

    name: str
    task: TaskId
    """The task of its order, as `name` is."""
    command: str
    since: float
    """On the clock of the event loop."""
    pace: Pace | None = None


class Room(Protocol):
    """A clean directory for one check."""

    @property
    def path(self) -> Path:
        """The path where its command finds it."""
        ...

    @property
    def grant(self) -> Grant | None:
        """The paths that its command may reach; None: it is not confined."""
        ...


class Lent(Protocol):
    """The things outside of the tree that one command has to itself."""

    @property
    def env(self) -> Mapping[str, str]:
        """Values of variables that the order has without them."""
        ...

    @property
    def forwarded_ports(self) -> tuple[ForwardedPort, ...]: ...


@dataclass(frozen=True, slots=True)
class NothingLent:
    """What commands without leased databases get."""

    env: Mapping[str, str] = field(default_factory=dict)
    forwarded_ports: tuple[ForwardedPort, ...] = ()


Lend = Callable[[Mapping[str, str]], AbstractAsyncContextManager[Lent]]
"""Makes what leased values stand for, like databases, for as long as one command runs."""
Prepare = Callable[[Tree], Awaitable[CheckResult | None]]
"""Installs what a tree needs; None if all is there, else how that failed."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What checks need besides the files of their tree."""

    prepare: Prepare | None = None
    lend: Lend = lambda _variables: nullcontext(NothingLent())
    services: Callable[[], Mapping[str, str]] = dict
    """Commands of the programs that run beside checks, by name."""


class Rooms(Protocol):
    """Makes directories for checks."""

    async def check_out(self, tree: Tree, home: Path, *, inputs: Sequence[str] = ()) -> Room:
        """One with exactly this tree, or with those of its files that match `inputs`. `home` is a folder for
        it alone."""
        ...

    async def clear(self, home: Path) -> None:
        """Remove what a check left. It is gone when this ends, also if the caller was cancelled."""
        ...


class Checker(Protocol):
    """Runs the repository's own checks on a tree, in a clean directory, and keeps the output."""

    async def check(self, order: CheckOrder) -> Sequence[CheckResult]:
        """All commands in order, each in a fresh checkout, so that none prepares the next. It goes on after a
        red one: all evidence counts.

        As many orders at a time as it was made for: the next one waits until nothing of an earlier one is
        left, also when that was cancelled. Raises `StaleEpoch` when the order's lease is
        over before a command starts.
        """
        ...

    def running(self) -> Sequence[RunningCheck]:
        """The commands that run now."""
        ...
