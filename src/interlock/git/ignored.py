"""What the user's checkout holds beside git's files: dependencies, generated and built files.

What a person's own test run finds there, a check must find too. Folders are shown as layers, each at its
place; single files are copied into one more layer. Two kinds are left out, by name and at any depth of what
git lists: caches, which are made again, and secrets, which no agent may read. `.worktreeinclude` names files
that are wanted all the same.
"""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from interlock.git.command import find_repository
from interlock.git.errors import GitFailed
from interlock.git.place import FORMER_STATE_FOLDER, Place

CACHES = (
    "__pycache__",
    "*.pyc",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".cache",
    ".parcel-cache",
    ".turbo",
    ".git",
    ".DS_Store",
    FORMER_STATE_FOLDER,
)
SECRETS = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "secret",
    "secrets",
    "secrets.*",
    ".secret*",
    "credentials*",
    "service-account*.json",
    "kubeconfig*",
    "*.tfstate*",
    "*.tfvars",
    ".npmrc",
    ".yarnrc*",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".aws",
    ".ssh",
    ".gnupg",
    ".docker",
    ".kube",
    ".azure",
    ".gcloud",
    ".terraform",
    ".vault*",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    "auth.json",
    "pip.conf",
)
"""Names, in any case, of files and folders that may give access to something."""
DEPENDENCIES = ("node_modules", "site-packages", "vendor")
"""Folders that others filled: certificates and examples of keys in them are no secrets of this project."""
MOST_FOLDERS = 400
MOST_FILES, MOST_BYTES = 2000, 64 << 20
"""Of single files, and of all of them together: what is copied for each run."""
MOST_LOOKED_AT = 5000
"""Entries of one folder that are looked through for secrets; of a larger one, only those at its top."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A folder of the checkout that workspaces show at the same place."""

    path: str
    """Relative to the checkout."""
    source: Path
    hidden: tuple[str, ...] = ()
    """What of it is not shown."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """What was found."""

    layers: tuple[Layer, ...] = ()
    files: tuple[str, ...] = ()


async def look_for_ignored(place: Place) -> Ignored:
    """What git ignores in the checkout, and the submodules that are there as main has them."""
    root = place.work_tree
    if root is None:
        return Ignored()
    words = ("ls-files", "-o", "--exclude-standard", "--directory", "-z")
    git = place.checkout_git
    try:
        ignored, untracked = await asyncio.gather(
            git.run(*words, "-i", limit_bytes=64 << 20), git.run(*words, limit_bytes=64 << 20)
        )
    except GitFailed:
        return Ignored()
    names = [os.fsdecode(name) for name in ignored.out.split(b"\0") if name]
    # An environment that a person made and no ignore rule names: `python -m venv` writes none of its own.
    others = (os.fsdecode(name) for name in untracked.out.split(b"\0") if name.endswith(b"/"))
    names += [name for name in others if _is_environment(root / name)]
    found = await asyncio.to_thread(_sorted_out, root, names)
    modules = [layer async for layer in _submodules(place, root)]
    return Ignored((*found.layers, *modules), found.files)


def is_cache(path: str) -> bool:
    """Is anything on the way to it a cache."""
    return any(fnmatch(part, pattern) for part in path.split("/") for pattern in CACHES)


def is_secret(name: str) -> bool:
    """May a file or folder of this name give access to something."""
    lower = name.lower()
    return any(fnmatch(lower, pattern) for pattern in SECRETS) and not lower.endswith((".example", ".sample"))


def is_dependency(folder: Path) -> bool:
    """Is a folder filled with what others made."""
    return folder.name in DEPENDENCIES or (folder / "pyvenv.cfg").is_file()


def _is_environment(folder: Path) -> bool:
    return folder.name == "node_modules" or (folder / "pyvenv.cfg").is_file()


def _sorted_out(root: Path, names: Sequence[str]) -> Ignored:
    folders, files = list[str](), list[str]()
    for name in sorted(names):
        plain = name.rstrip("/")
        if is_cache(plain) or any(plain.startswith(f"{folder}/") for folder in folders[-1:]):
            continue
        path = root / plain
        if path.is_symlink() or not path.is_dir():
            if not any(map(is_secret, plain.split("/"))):
                files.append(plain)
        elif not any(map(is_secret, plain.split("/"))) or (path / "pyvenv.cfg").is_file():
            folders.append(plain)
    layers = [Layer(name, root / name, tuple(_secrets_in(root / name))) for name in folders[:MOST_FOLDERS]]
    return Ignored(tuple(layers), tuple(files[:MOST_FILES]))


def _secrets_in(folder: Path) -> Iterator[str]:
    """Paths relative to the folder. Dependencies are looked at from above only."""
    deep = not is_dependency(folder)
    waiting, looked_at = [""], 0
    while waiting:
        below = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(folder / below) as entries:
            for entry in entries:
                looked_at += 1
                path = f"{below}{entry.name}"
                if is_secret(entry.name):
                    yield path
                elif entry.name in DEPENDENCIES or not deep or looked_at > MOST_LOOKED_AT:
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")


async def _submodules(place: Place, root: Path) -> AsyncIterator[Layer]:
    """Those whose files are there, at the commit that the checkout names."""
    if not (root / ".gitmodules").is_file():
        return
    said = await place.checkout_git.run("ls-files", "--stage", "-z")
    for entry in said.out.split(b"\0"):
        if entry.startswith(b"160000 "):
            words, _, name = entry.partition(b"\t")
            path = root / os.fsdecode(name)
            if (path / ".git").exists():
                head = await find_repository(path, "rev-parse", "HEAD")
                if head.line == words.split(b" ")[1].decode():
                    yield Layer(os.fsdecode(name), path, (".git",))


def copy_files(root: Path, names: Sequence[str], target: Path) -> None:
    """Copy single files to the same paths below `target`, as far as there is room for them."""
    left = MOST_BYTES
    for name in names:
        source, copy = root / name, target / name
        with contextlib.suppress(OSError):
            left -= source.lstat().st_size
            if left < 0:
                return
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
