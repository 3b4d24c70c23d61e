"""Finds the files of the user's checkout that git does not track: dependencies, generated and built files.

A check must find there what a person's own test run finds. Folders are shown as layers, each at its
place; single files are copied into one more layer. Two kinds are left out, by name and at any depth of what
git lists: caches, which are made again, and secrets, which no agent may read. Nor is shown what is ignored
because an agent's change says so, unless it is of a kind that only programs make. `.worktreeinclude`, which
no agent can change, names files to show in spite of these rules.
"""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.files import SCRATCH, copy_beneath
from interlock.git.place import FORMER_STATE_FOLDER, Place
from interlock.model.secret_names import is_secret

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
DEPENDENCIES = ("node_modules", "site-packages", "vendor")
"""Folders that others filled: certificates and examples of keys in them are no secrets of this project."""
PRODUCTS = ("target", "dist", "build", "*.egg-info", "*.o", "*.a", "*.so", "*.class")
"""Names that builds produce."""
MOST_FOLDERS = 400
MOST_FILES, MOST_BYTES = 2000, 64 << 20
"""Number of single files, and bytes of all of them together, that are copied for each run."""
MOST_LOOKED_AT = 200_000
"""Entries of one folder that are looked through for secrets. A larger one is not shown, unless it is build
output: then its other entries are."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A folder of the checkout that workspaces show at the same place."""

    path: str
    """Relative to the checkout."""
    source: Path
    hidden: tuple[str, ...] = ()
    """Paths in it that are not shown."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """The folders and files that were found."""

    layers: tuple[Layer, ...] = ()
    files: tuple[str, ...] = ()


async def look_for_ignored(place: Place) -> Ignored:
    """Find the files that git ignores in the checkout."""
    root = place.work_tree
    if root is None:
        return Ignored()
    names = await _names(place.checkout_git, root)
    by_agents = await exposed(place, [name for name in names if not _is_made(root / name)])
    return await asyncio.to_thread(_sorted_out, root, [name for name in names if name not in by_agents])


async def look_in_submodule(git: Git, checkout: Path) -> Ignored:
    """Find the files that git ignores in the checkout of a submodule, where no agent lands rules."""
    return await asyncio.to_thread(_sorted_out, checkout, await _names(git, checkout))


async def _names(git: Git, root: Path) -> list[str]:
    """List what git ignores in a checkout and is no cache, and environments."""
    words = ("ls-files", "-o", "--exclude-standard", "--directory", "-z")
    try:
        ignored, untracked = await asyncio.gather(
            git.run(*words, "-i", limit_bytes=64 << 20), git.run(*words, limit_bytes=64 << 20)
        )
    except GitFailed:
        return []
    listed = [os.fsdecode(name) for name in ignored.out.split(b"\0") if name]
    names = [name for name in listed if not is_cache(name.rstrip("/"))]
    # An environment that a person made and no ignore rule names: `python -m venv` writes none of its own.
    others = (os.fsdecode(name) for name in untracked.out.split(b"\0") if name.endswith(b"/"))
    return names + [name for name in others if _is_environment(root / name)]


def is_cache(path: str) -> bool:
    return any(fnmatch(part, pattern) for part in path.split("/") for pattern in CACHES)


def is_dependency(folder: Path) -> bool:
    """Return True for a folder of dependencies, which other projects wrote."""
    return folder.name in DEPENDENCIES or (folder / "pyvenv.cfg").is_file()


def _is_environment(folder: Path) -> bool:
    return folder.name == "node_modules" or (folder / "pyvenv.cfg").is_file()


def _is_made(path: Path) -> bool:
    """Return True for a name that programs produce and no person writes by hand."""
    return is_dependency(path) or any(fnmatch(path.name, pattern) for pattern in PRODUCTS)


def _sorted_out(root: Path, names: Sequence[str]) -> Ignored:
    folders, files = list[str](), list[str]()
    for name in sorted(names):
        plain = name.rstrip("/")
        if any(plain.startswith(f"{folder}/") for folder in folders[-1:]):
            continue
        path = root / plain
        if path.is_symlink() or not path.is_dir():
            if not any(map(is_secret, plain.split("/"))):
                files.append(plain)
        elif not any(map(is_secret, plain.split("/"))) or (path / "pyvenv.cfg").is_file():
            folders.append(plain)
    hidden = ((name, secrets_in(root / name)) for name in folders[:MOST_FOLDERS])
    layers = [Layer(name, root / name, secrets) for name, secrets in hidden if secrets is not None]
    return Ignored(tuple(layers), tuple(files[:MOST_FILES]))


def secrets_in(folder: Path) -> tuple[str, ...] | None:
    """Paths relative to the folder; None if there are too many entries to say. Dependencies are looked at
    from above only."""
    found = list[str]()
    for number, path in enumerate(_entries(folder, deep=not is_dependency(folder))):
        if number >= MOST_LOOKED_AT:
            return tuple(found) if _is_made(folder) else None
        if is_secret(path.rpartition("/")[2]):
            found.append(path)
    return tuple(found)


def _entries(folder: Path, *, deep: bool) -> Iterator[str]:
    """All that is in a folder, but nothing in a secret one or in dependencies."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(folder / below) as entries:
            for entry in entries:
                path = f"{below}{entry.name}"
                yield path
                if not deep or entry.name in DEPENDENCIES or is_secret(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")


def copy_files(root: Path, names: Sequence[str], target: Path) -> None:
    """Copy single files to the same paths below `target`, as far as there is room for them."""
    left = MOST_BYTES
    for name in names:
        with contextlib.suppress(OSError):
            left -= (root / name).lstat().st_size
            if left < 0:
                return
            copy_beneath(root, target, name)


# Finds what an agent's change made git ignore: the next agents are not shown it.
#
# What git ignores in the checkout is shown to agents. So an agent that lands an ignore rule, or takes back
# an exception, would show others what the user has lying there and never committed. For each landing that
# changed ignore files, the rules before and after it are compared: what only its rules ignore stays hidden.

RULES = ":(glob,icase)**/.gitignore"
LANDED = "^Interlock-Task: "
"""A line in the message of each commit that Interlock lands."""
FIRST_LANDING = "2024-01-01"
"""Interlock is not older: the history before needs no look."""
MOST_LANDINGS = 200


async def exposed(place: Place, names: Sequence[str]) -> Collection[str]:
    """Find the ignored `names`, folders with a slash at their end, that a landing exposed."""
    try:
        landings = await _landings(place) if names else []
        if not landings:
            return ()
        if len(landings) > MOST_LANDINGS:
            return names
        # A folder may be listed for the rules of all that is in it: then each of these is listed as well.
        found = set(names) - await _matched(place.checkout_git, names)
        for landing in landings:
            left = [name for name in names if name not in found]
            missed = set(left) - await _ignored(place, f"{landing}^", left)
            if missed:
                found |= await _ignored(place, landing, sorted(missed))
    except (GitFailed, OSError):
        return names
    return found


async def _landings(place: Place) -> list[str]:
    """The commits landed by Interlock that changed ignore files."""
    heads = [name for name in (place.ref, f"refs/heads/{place.head}" if place.head else "HEAD") if name]
    words = ("--format=%H %P", f"--grep={LANDED}", f"--since={FIRST_LANDING}")
    said = await place.git.run("log", *words, *dict.fromkeys(heads), "--")
    # One without a parent is where a shallow clone begins: its rules came with the clone.
    commits = [line.split()[0] for line in said.line.splitlines() if " " in line.strip()]
    if not commits:
        return []
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    changed = await place.git.run("diff-tree", "--stdin", "-r", "--name-only", "--", RULES, feed=feed)
    return [commit for commit in commits if commit.encode() in changed.out]


async def _ignored(place: Place, commit: str, names: Sequence[str]) -> set[str]:
    """Find the names that the ignore files of a commit, or the user's own rules, exclude."""
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        git = Git(place.common_dir, tree, variables={"GIT_INDEX_FILE": f"{folder}/index"})
        await git.run("read-tree", commit)
        files = await git.run("ls-files", "-z", "--", RULES)
        await git.run("checkout-index", "-q", "-z", "--stdin", feed=files.out)
        for name in names:
            if name.endswith("/"):  # a rule may hold for folders only
                (tree / name).mkdir(parents=True, exist_ok=True)
        # Without the index: a folder may have been a submodule then, and git would refuse to look into it.
        none = {"GIT_INDEX_FILE": f"{folder}/none"}
        return await _matched(Git(place.common_dir, tree, as_user=True, variables=none), names)


async def _matched(git: Git, names: Sequence[str]) -> set[str]:
    return set(map(os.fsdecode, await git.ignored(map(os.fsencode, names))))
