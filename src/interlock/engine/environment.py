"""Digest of what decides the result of a check besides the tree.

It need not see everything: it is why a green result is looked up and not found again, and a check that is red
or cannot run is tried again in any case where that holds a task back.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from interlock.engine.project import Project

MARKS = (
    *("uv.lock", "poetry.lock", "Pipfile.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"),
    *("go.sum", "Cargo.lock", "Gemfile.lock", ".venv/pyvenv.cfg", ".venv/lib/*/site-packages"),
    *("node_modules", "node_modules/.package-lock.json", "node_modules/.modules.yaml"),
)
"""Files and folders that are written whenever a project's dependencies are."""


def environment(project: Project) -> str:
    """Return the digest of the sandbox, the programs on the PATH, and the installed dependencies."""
    settings = project.settings
    parts = [
        project.processes.sandbox.kind.value,
        os.environ.get("PATH", ""),
        sys.version,
        *settings.toolchains,
        settings.container_image,
        *sorted(settings.pass_env),
        *_marks(project.root),
    ]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def _marks(root: Path) -> Iterator[str]:
    for mark in MARKS:
        for path in sorted(root.glob(mark)):
            seen = path.lstat()
            yield f"{path.relative_to(root)} {seen.st_mtime_ns} {seen.st_size}"
