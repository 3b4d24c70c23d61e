"""Carries out the graph's `setup`: installs what a tree names and the checkout lacks, once for each content.

1. It runs in the sandbox at the checkout's path, on the tree alone: nothing of the checkout, of an attempt or
   of an earlier set-up is there.
2. A result is made whole, then gets its digest as its name, and is never changed: it is a layer below
   attempts and checks.
3. It reaches the hosts that the user's own settings name. No file of the repository can open the network.
4. A tree with main's key files gets what was made from main's tree. A change with other key files gets a
   set-up of its own, which no other tree is shown: what a change brings is not trusted by the next one.
5. A checkout that has the folders, and whose key files are those of the tree, needs no set-up.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import platform
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from interlock.events.facts import Fact, SetupBuilt
from interlock.git.beside import Shown, read_built, take_built
from interlock.git.files import read_regular, remove_tree
from interlock.git.place import Place
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import CheckResult
from interlock.model.process import Command, Ended, Exit, Processes, inherit
from interlock.model.setup import Setup
from interlock.model.task import Tree
from interlock.run.network import Way

SECONDS = 1800.0
"""Time limit of each command."""
LOCK_BYTES = 1 << 26
"""The largest file of which a set-up's key is read in the checkout."""
KEPT = 5
"""Results: older ones are removed when a run begins."""
OFFLINE = {"UV_PYTHON_DOWNLOADS": "never"}
"""A Python downloaded into a HOME that is gone afterwards would leave an environment without one."""


@dataclass(frozen=True, slots=True)
class SetupMeans:
    """The tools of a set-up."""

    processes: Processes
    rooms: GitWorkspaces
    network: Callable[[], AbstractAsyncContextManager[Way]]
    """Opens the way to the hosts that the user allows."""
    record: Callable[[Fact], Awaitable[None]]
    pass_env: tuple[str, ...] = ()
    marks: tuple[str, ...] = field(default=())
    """Other properties of the machine that decide the result."""


class Setups:
    """The set-ups of one project."""

    def __init__(self, place: Place, means: Callable[[], SetupMeans]) -> None:
        """`means` is asked only when there is something to do: to find out about a sandbox takes a while."""
        self.spec: Setup | None = None
        """The set-up in the current graph."""
        self._place = place
        self._ask_means = means
        self._home = place.state / "setups"
        self._one_at_a_time = asyncio.Lock()
        self._failed: dict[str, CheckResult] = {}

    @cached_property
    def _means(self) -> SetupMeans:
        return self._ask_means()

    async def is_missing(self, tree: Tree) -> bool:
        """Return True if there is something to install for this tree."""
        needed = await self._needed(tree)
        return needed is not None and not (self._home / needed.digest).is_dir()

    async def shown(self, tree: str) -> Shown | None:
        """The layers for a workspace of this tree: of its own set-up, else of main's, if there is any."""
        for each in dict.fromkeys((tree, self._place.ref)):
            needed = await self._needed(each)
            found = await asyncio.to_thread(read_built, self._home / needed.digest) if needed else None
            if found or needed is None:
                return found
        return None

    async def ensure(self, tree: Tree) -> CheckResult | None:
        """Make what this tree needs, unless it is there. None: it is; else how the set-up failed."""
        needed = await self._needed(tree)
        if needed is None or self.spec is None or not self._means.rooms.at_checkout:
            return None  # in a copy at another path, an environment would not work
        digest = needed.digest
        async with self._one_at_a_time:
            if (self._home / digest).is_dir():
                return None
            if digest not in self._failed:
                failed = await self._make(self.spec, needed)
                if failed is None:
                    return None
                self._failed[digest] = failed
            return self._failed[digest]

    def outdated(self, older_than_seconds: float = 0.0) -> list[Path]:
        """List unfinished results, and all finished ones but the newest."""
        if not self._home.is_dir():
            return []
        made = sorted(self._home.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
        whole = [path for path in made if path.name[0] != "." and not path.is_symlink()]
        latest = time.time() - older_than_seconds
        over = (path for path in made if path.name[0] == "." or path in whole[KEPT:])
        return [path for path in over if path.lstat().st_mtime <= latest]

    def clear_up(self, older_than_seconds: float = 0.0) -> None:
        """Remove what is outdated. Only while no program uses it."""
        for path in self.outdated(older_than_seconds):
            with contextlib.suppress(FileNotFoundError):  # another process removes it as well
                remove_tree(path)
        for path in self._home.glob("*"):
            if path.is_symlink() and not path.exists():
                path.unlink()

    async def _needed(self, tree: str) -> "_Needed | None":
        """The set-up that this tree needs; None if the checkout has it all."""
        if self.spec is None:
            return None
        names = [f"{each}:{name}" for each in (tree, self._place.ref) for name in self.spec.key]
        *found, main = await self._place.git.names(*names, f"{self._place.ref}^{{tree}}")
        keys, on_main = found[: len(self.spec.key)], found[len(self.spec.key) :]
        if await asyncio.to_thread(self._is_in_checkout, self.spec, keys):
            return None
        if keys != on_main or main is None:
            return _Needed(self._digest(self.spec, [*keys, tree]), Tree(tree))
        shared = self._digest(self.spec, keys)
        await asyncio.to_thread(self._take_over, self._digest(self.spec, [*keys, main]), shared)
        return _Needed(shared, Tree(main))

    def _take_over(self, own: str, shared: str) -> None:
        """Once a change has landed, what was made for its very tree is main's."""
        if (self._home / own).is_dir() and not os.path.lexists(self._home / shared):
            with contextlib.suppress(FileExistsError):
                (self._home / shared).symlink_to(own)

    def _digest(self, spec: Setup, decided_by: Sequence[str | None]) -> str:
        said = json.dumps([spec.run, spec.key, decided_by, *self._means.marks, platform.machine()])
        return hashlib.sha256(said.encode()).hexdigest()[:24]

    def _is_in_checkout(self, spec: Setup, keys: list[str | None]) -> bool:
        """Rule 5."""
        root = self._place.work_tree
        if root is None or not spec.folders or not all((root / name).exists() for name in spec.folders):
            return False
        return all(self._object_id(root / name) == key for name, key in zip(spec.key, keys, strict=True))

    def _object_id(self, path: Path) -> str | None:
        try:
            return self._place.object_id("blob", read_regular(path, LOCK_BYTES))
        except OSError:
            return None

    async def _make(self, spec: Setup, needed: "_Needed") -> CheckResult | None:
        tree, digest = needed.tree, needed.digest
        making = self._home / f".{uuid.uuid4().hex[:12]}"
        log = f"evidence/setup/{digest}.log"
        try:
            failed, seconds = await self._run(spec, tree, making, log)
            if failed is None:
                await take_built(self._place, making / "room", making / "result")
                await asyncio.to_thread((making / "result").rename, self._home / digest)
        finally:
            await self._means.rooms.clear(making / "room")
            await asyncio.to_thread(remove_tree, making)
        tail = failed.tail if failed else ""
        await self._means.record(SetupBuilt(digest, tree, failed is None, round(seconds, 3), spec.run, tail))
        return failed

    async def _run(self, spec: Setup, tree: Tree, making: Path, log: str) -> tuple[CheckResult | None, float]:
        """All commands in one room, until one fails; how long they took together."""
        (home := making / "home").mkdir(parents=True)
        path = self._place.state / log
        path.parent.mkdir(parents=True, exist_ok=True)
        (making / "room").mkdir()
        room = await self._means.rooms.check_out(tree, making / "room", bare=True)
        seconds = 0.0
        async with self._means.network() as way:
            env = {**inherit(os.environ, self._means.pass_env), **OFFLINE, **way.env}
            grant = replace(room.grant, home=str(home), forwarded_ports=way.forwarded_ports)
            for command in spec.run:
                exited = await self._means.processes.run(
                    Command(
                        ("/bin/sh", "-c", command), str(room.path), str(path), env,
                        timeout_seconds=SECONDS, key=f"setup {making.name}", grant=grant, grace=False,
                    )
                )  # fmt: skip
                seconds += exited.seconds
                if exited.ended is not Ended.EXITED or exited.code:
                    return _failure(command, exited, log), seconds
        return None, seconds


@dataclass(frozen=True, slots=True)
class _Needed:
    """A set-up that some tree needs."""

    digest: str
    tree: Tree
    """The one that it is made from."""


def _failure(command: str, exited: Exit, log: str) -> CheckResult:
    return CheckResult(
        command, exited.code or 1, exited.seconds, exited.tail, log, timed_out=exited.ended is Ended.TIMEOUT
    )
