"""What it costs to start a program in the sandbox, beside starting it alone."""

import asyncio
import functools
import os
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from bench.table import Row, Watch
from interlock.model.process import Command
from interlock.model.sandbox import Grant, Limits, Sandbox
from interlock.process.containment import strongest
from interlock.process.probe import probe
from interlock.process.processes import LocalProcesses
from interlock.process.supervised import Bounds
from interlock.sandbox.bubblewrap import find_bubblewrap
from interlock.sandbox.confinement import Confinement
from interlock.sandbox.landlock import Landlock
from interlock.sandbox.toolchains import find_toolchains

TITLE = "sandbox: one start of /bin/true"
LIMITS = Limits(1 << 30, 4096, 1 << 30)


def measure(short: bool) -> list[Row]:
    """The shortest of several starts, each to its end: plain, supervised, and in each sandbox that works."""
    rounds = 10 if short else 40
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), rounds))


async def _measure(folder: Path, rounds: int) -> list[Row]:
    command = _command(folder)
    plain = await _fastest(lambda: asyncio.to_thread(subprocess.run, command.argv, check=True), rounds)
    supervised = await _fastest(lambda: _run(LocalProcesses(), replace(command, grant=None)), rounds)
    rows = [
        Row("plain exec", plain, "s"),
        Row("supervisor alone", supervised, "s", supervised / plain, "plain exec"),
    ]
    for name, confinement in _confinements().items():
        for what, limits in ((name, Limits()), (f"{name}, with limits", LIMITS)):
            processes = LocalProcesses(bounds=Bounds(confinement, limits))
            seconds = await _fastest(functools.partial(_run, processes, command), rounds)
            rows += [
                Row(what, seconds, "s", seconds / plain, "plain exec"),
                Row(
                    f"{what}, beside it", seconds - supervised, "s", seconds / supervised, "supervisor alone"
                ),
            ]
    return rows


def _confinements() -> dict[str, Confinement]:
    """Those that work on this machine."""
    toolchains = find_toolchains(["auto"], os.environ)
    found: dict[str, Confinement] = {}
    if bubblewrap := find_bubblewrap(toolchains):
        found["layout C (bubblewrap, seccomp)"] = bubblewrap
    found["landlock, seccomp"] = Landlock(toolchains, alone=strongest().is_namespace)
    return {
        name: kind
        for name, kind in found.items()
        if probe(kind, strongest(), strict=kind.kind is Sandbox.BUBBLEWRAP).works
    }


def _command(folder: Path) -> Command:
    """As an agent's: a workspace, a git dir with protected files, a home."""
    for name in ("tree", "git/hooks", "git/info", "home"):
        (folder / name).mkdir(parents=True)
    for name in ("tree/.git", "git/config", "git/config.worktree"):
        (folder / name).touch()
    grant = Grant(
        write=(f"{folder}/tree", f"{folder}/git"),
        protect=tuple(
            f"{folder}/{name}"
            for name in ("tree/.git", "git/config", "git/config.worktree", "git/hooks", "git/info")
        ),
        home=f"{folder}/home",
    )
    env = {"PATH": os.environ["PATH"]}
    return Command(("/bin/true",), f"{folder}/tree", f"{folder}/log", env, grant=grant)


async def _run(processes: LocalProcesses, command: Command) -> None:
    assert (await processes.run(command)).code == 0


async def _fastest(start: Callable[[], Awaitable[object]], rounds: int) -> float:
    watches = [Watch() for _ in range(rounds)]
    for watch in watches:
        with watch.measure():
            await start()
    return min(watch.seconds for watch in watches)
