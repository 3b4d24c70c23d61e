"""Digest of what decides the result of a check besides the tree.

1. A green result is reused where the digest is the same, so it has all that a program can see by itself: the
   sandbox and its limits, the variables with their values, the programs, and all that workspaces show of the
   checkout beside the tree (`git/beside.py`).
2. It need not see more: a check that is red or cannot run is tried again where that holds a task back.
3. Where there is too much to look at, results are reused by this process only.
"""

import asyncio
import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from interlock.engine.environments import GraphCommands
from interlock.engine.settings import Settings
from interlock.engine.setups import Setups
from interlock.git.place import Place
from interlock.model.process import inherit
from interlock.model.sandbox import Limits, Sandbox
from interlock.process.processes import LocalProcesses

LOCKS = (
    *("uv.lock", "poetry.lock", "Pipfile.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"),
    *("go.sum", "Cargo.lock", "Gemfile.lock"),
)
"""Files at the top of the checkout that are written whenever a project's dependencies are."""
PACKAGES = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib/node_modules")
"""Folders of what programs load, beside the `bin` that they are in."""
MOST_PROGRAMS = 20_000
"""Files in the folders of programs that are looked at: 0.15 s."""
BYTES = ("core.autocrlf", "core.eol", "core.symlinks")
"""Settings of git that decide how it writes files."""
_SESSION = frozenset({"TERM", "XDG_SESSION_ID", "XDG_VTNR"})
"""Variables that differ from one terminal to the next and decide no result."""


class Beside(Protocol):
    """Knows what workspaces show beside the tree."""

    async def beside(self) -> str: ...


class Surroundings(Protocol):
    """The parts of a project that decide how its checks end."""

    @property
    def settings(self) -> Settings: ...
    @property
    def setups(self) -> Setups: ...
    @property
    def graph_commands(self) -> GraphCommands: ...
    @property
    def workspaces(self) -> Beside: ...
    @property
    def place(self) -> Place: ...
    @property
    def processes(self) -> LocalProcesses: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def root(self) -> Path: ...
    @property
    def state_dir(self) -> Path: ...


async def environment(project: Surroundings) -> str:
    """Return the digest of the sandbox, its variables and programs, and what is shown beside the tree."""
    beside = await project.workspaces.beside()
    return await asyncio.to_thread(_digest, project, beside)


def _digest(project: Surroundings, beside: str) -> str:
    settings, setup, place = project.settings, project.setups.spec, project.place
    seen = inherit(os.environ, settings.pass_env)
    programs = [*seen.get("PATH", "").split(":"), *settings.toolchains]
    parts = [
        project.processes.sandbox.kind.value,
        platform.machine(),
        sys.version,
        *settings.toolchains,
        settings.container_image,
        *sorted(settings.pass_env),
        *(f"{name}={value}" for name, value in sorted(seen.items()) if name not in _SESSION),
        repr(project.limits),
        *((*setup.run, *setup.key) if setup else ()),
        project.graph_commands.digest,
        *(f"{name}={place.settings.get(name)}" for name in BYTES),
        _mark(place.common_dir / "info/attributes"),
        *(_mark(project.root / name) for name in (*LOCKS, *(setup.key if setup else ()))),
        *_marks(project.state_dir / "setups", ("[!.]*",)),
        *_program_marks(programs),
        beside,
    ]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


async def reusable(project: Surroundings) -> str:
    """Return the digest under which results are reused. Without a sandbox a check may have read any file of
    the machine: then they are reused by this process only."""
    found = await environment(project)
    return f"{found}-{os.getpid()}" if project.processes.sandbox.kind is Sandbox.NONE else found


def _program_marks(folders: Iterable[str]) -> Iterator[str]:
    """A program that is written over changes its folder in no way: each is looked at."""
    left = MOST_PROGRAMS
    for folder in dict.fromkeys(folders):
        if folder.startswith("/"):
            found = sorted(Path(folder).glob("*"))
            left -= len(found)
            yield from _marks(Path(folder).parent, PACKAGES)
            yield from map(_mark, found) if left >= 0 else (f"{os.getpid()}",)


def _marks(root: Path, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from map(_mark, sorted(root.glob(name)))


def _mark(path: Path) -> str:
    """Say when a file was written: a program can set its time, but not the time of its last change."""
    try:
        seen = path.stat()
    except OSError:
        return str(path)
    return f"{path} {seen.st_mtime_ns} {seen.st_ctime_ns} {seen.st_size}"
