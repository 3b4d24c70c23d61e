"""Copies into a workspace what `.worktreeinclude` asks for: files git does not track, but work needs."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from interlock.git.command import Git
from interlock.git.files import copy_beneath, read_beneath
from interlock.git.place import FORMER_STATE_FOLDER, Place

FILE = ".worktreeinclude"


def read_patterns(root: Path) -> str:
    """The file's text. A link, or anything else that is no file, says nothing."""
    return read_beneath(root, FILE) or ""


async def include(place: Place, tree: Path, may: Callable[[str], bool] = lambda _: True) -> dict[str, str]:
    """Copy untracked files that match the patterns (in the form of `.gitignore`); their hashes by path.

    `may` is given the patterns, and says whether they count.
    """
    source = place.work_tree
    patterns = read_patterns(source) if source else ""
    if source is None or not patterns or not may(patterns):
        return {}
    from tempfile import NamedTemporaryFile  # noqa: PLC0415 - 3 ms that `status` need not spend

    # Without the user's configuration: only these patterns say what is copied.
    git = Git(place.common_dir, source, variables=place.checkout_git.variables)
    with NamedTemporaryFile("w", encoding="utf-8", errors="surrogateescape") as copy:
        copy.write(patterns)
        copy.flush()
        said = await git.run("ls-files", "-o", "-i", "-z", f"--exclude-from={copy.name}")
    names = [os.fsdecode(name) for name in said.out.split(b"\0") if name]
    return await asyncio.to_thread(_copy_all, source, tree, names)


def _copy_all(source: Path, tree: Path, names: Iterable[str]) -> dict[str, str]:
    return {
        name: fingerprint(tree / name)
        for name in names
        if not name.startswith(f"{FORMER_STATE_FOLDER}/")
        and not name.endswith("/")
        and copy_beneath(source, tree, name)
    }


def fingerprint(path: Path) -> str:
    """Return a hash to tell if a copied file has changed since; a link counts by its target."""
    if path.is_symlink():
        return f"link {path.readlink()}"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
