"""Folders that a project's tools keep in the person's HOME and need offline: shown read-only in the sandbox.

1. A cache is shown only if a file of the project says that it is used: a `go.mod`, a `Cargo.toml` ...
2. Of a cache only the part without credentials is named here; the list of private folders still counts.
3. HOME is another one inside, so each comes with the variable by which its tool finds it.
"""

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interlock.sandbox.checkout import read_small


@dataclass(frozen=True, slots=True)
class Cache:
    """One thing that a tool keeps in HOME."""

    folders: tuple[Path, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Tells the tool where it is."""
    environments: tuple[Path, ...] = ()
    """Those of the folders that are virtual environments: they need the Python they were made with."""


@dataclass(frozen=True, slots=True)
class _Where:
    """The folders and variables to search."""

    root: Path
    home: Path
    environ: Mapping[str, str]

    def named(self, variable: str, default: str) -> Path:
        """The folder that a variable names, or the tool's default below HOME."""
        said = self.environ.get(variable, "")
        return Path(said) if said.startswith("/") else self.home / default

    @property
    def cache_home(self) -> Path:
        return self.named("XDG_CACHE_HOME", ".cache")


def find_caches(root: str, home: str, environ: Mapping[str, str]) -> Iterator[Cache]:
    """The caches that the project at `root` needs, as far as they are there."""
    where = _Where(Path(root), Path(home), environ)
    for find in _FINDERS:
        cache = find(where)
        if cache and cache.folders:
            yield cache


def _go_modules(where: _Where) -> Cache | None:
    if not _is_any(where.root, "go.mod", "go.work"):
        return None
    said = where.environ.get("GOPATH", "").split(":")[0]
    default = Path(said, "pkg/mod") if said.startswith("/") else where.home / "go/pkg/mod"
    folder = where.named("GOMODCACHE", str(default))
    return Cache(_present(folder), {"GOMODCACHE": str(folder)})


def _cargo_registry(where: _Where) -> Cache | None:
    if not _is_any(where.root, "Cargo.toml"):
        return None
    folder = where.named("CARGO_HOME", ".cargo")
    # Not the folder itself: its credentials and its configuration may hold tokens.
    return Cache(_present(folder / "registry", folder / "git"), {"CARGO_HOME": str(folder)})


def _poetry_environment(where: _Where) -> Cache | None:
    """The one of this project: poetry names it by a hash of the project's path."""
    if not _is_any(where.root, "poetry.lock"):
        return None
    kept = where.named("POETRY_CACHE_DIR", str(where.cache_home / "pypoetry"))
    folder = where.named("POETRY_VIRTUALENVS_PATH", str(kept / "virtualenvs"))
    digest = hashlib.sha256(os.fsencode(os.path.realpath(where.root))).digest()
    mark = base64.urlsafe_b64encode(digest).decode()[:8]
    found = tuple(sorted(folder.glob(f"*-{mark}-py*")))
    return Cache(found, {"POETRY_VIRTUALENVS_PATH": str(folder)}, found)


def _pipenv_environment(where: _Where) -> Cache | None:
    if not _is_any(where.root, "Pipfile"):
        return None
    folder = where.named("WORKON_HOME", ".local/share/virtualenvs")
    digest = hashlib.sha256(os.fsencode(where.root / "Pipfile")).digest()
    found = tuple(sorted(folder.glob(f"*-{base64.urlsafe_b64encode(digest[:6]).decode()[:8]}*")))
    return Cache(found, {"WORKON_HOME": str(folder)}, found)


def _corepack(where: _Where) -> Cache | None:
    """The package manager that `packageManager` names, as corepack downloaded it."""
    try:
        said = json.loads(read_small(where.root / "package.json"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or "packageManager" not in said:
        return None
    folder = where.named("COREPACK_HOME", str(where.cache_home / "node/corepack"))
    return Cache(_present(folder), {"COREPACK_HOME": str(folder)})


def _yarn(where: _Where) -> Cache | None:
    """Plug'n'Play names archives there by a path relative to the project."""
    if not _is_any(where.root, "yarn.lock"):
        return None
    return Cache(_present(where.home / ".yarn/berry/cache"))


def _user_site(where: _Where) -> Cache | None:
    """Modules installed with `pip install --user`."""
    found = tuple(sorted((where.home / ".local/lib").glob("python3*/site-packages")))
    return Cache(found, {"PYTHONUSERBASE": str(where.home / ".local")})


def _is_any(root: Path, *names: str) -> bool:
    return any((root / name).is_file() for name in names)


def _present(*folders: Path) -> tuple[Path, ...]:
    return tuple(folder for folder in folders if folder.is_dir())


_FINDERS: tuple[Callable[[_Where], Cache | None], ...] = (
    _go_modules,
    _cargo_registry,
    _poetry_environment,
    _pipenv_environment,
    _corepack,
    _yarn,
    _user_site,
)
