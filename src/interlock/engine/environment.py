"""Digest of what decides the result of a check besides the tree.

1. A green result is reused where the digest is the same, so it has all that a program can see by itself: the
   sandbox and its limits, the variables with their values, the folders of programs, and the dependencies that
   are installed beside the tree.
2. It need not see more: a check that is red or cannot run is tried again where that holds a task back.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from interlock.engine.settings import Settings
from interlock.engine.setups import Setups
from interlock.model.process import inherit
from interlock.model.sandbox import Limits, Sandbox
from interlock.process.processes import LocalProcesses

MARKS = (
    *("uv.lock", "poetry.lock", "Pipfile.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"),
    *("go.sum", "Cargo.lock", "Gemfile.lock", ".venv/pyvenv.cfg", ".venv/lib/*/site-packages"),
    *("node_modules", "node_modules/.package-lock.json", "node_modules/.modules.yaml"),
)
"""Files and folders that are written whenever a project's dependencies are."""
PACKAGES = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib/node_modules")
"""The same of programs, beside the `bin` that they are in."""
_SESSION = frozenset({"TERM", "XDG_SESSION_ID", "XDG_VTNR"})
"""Variables that differ from one terminal to the next and decide no result."""


class Surroundings(Protocol):
    """The parts of a project that decide how its checks end."""

    @property
    def settings(self) -> Settings: ...
    @property
    def setups(self) -> Setups: ...
    @property
    def processes(self) -> LocalProcesses: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def root(self) -> Path: ...
    @property
    def state_dir(self) -> Path: ...


def environment(project: Surroundings) -> str:
    """Return the digest of the sandbox, its variables and programs, and the installed dependencies."""
    settings, setup = project.settings, project.setups.spec
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
        *_marks(project.root, MARKS),
        *_marks(project.state_dir / "setups", ("[!.]*",)),
        *_program_marks(programs),
    ]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def reusable(project: Surroundings) -> str:
    """Return the digest under which results are reused. Without a sandbox a check may have read any file of
    the machine: then they are reused by this process only."""
    found = environment(project)
    return f"{found}-{os.getpid()}" if project.processes.sandbox.kind is Sandbox.NONE else found


def _program_marks(folders: Iterable[str]) -> Iterator[str]:
    for folder in dict.fromkeys(folders):
        if folder.startswith("/"):
            yield from _marks(Path(folder), (".",))
            yield from _marks(Path(folder).parent, PACKAGES)


def _marks(root: Path, marks: Iterable[str]) -> Iterator[str]:
    for mark in marks:
        for path in sorted(root.glob(mark)) if mark != "." else [root]:
            try:
                seen = path.lstat()
            except OSError:
                continue
            yield f"{path} {seen.st_mtime_ns} {seen.st_size}"
