"""Copies into a workspace what `.worktreeinclude` asks for: files git does not track, but work needs."""

import asyncio
import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from interlock.git.command import Git
from interlock.git.place import FORMER_STATE_FOLDER, Place

FILE = ".worktreeinclude"


async def include(place: Place, tree: Path) -> dict[str, str]:
    """Copy untracked files that match the patterns (in the form of `.gitignore`); their hashes by path."""
    source = place.work_tree
    if source is None or not (source / FILE).is_file():
        return {}
    # Without the user's configuration: only this file says what is copied.
    git = Git(place.common_dir, source, variables=place.checkout_git.variables)
    said = await git.run("ls-files", "-o", "-i", "-z", f"--exclude-from={source / FILE}")
    names = [os.fsdecode(name) for name in said.out.split(b"\0") if name]
    return await asyncio.to_thread(_copy_all, source, tree, names)


def _copy_all(source: Path, tree: Path, names: Iterable[str]) -> dict[str, str]:
    return {
        name: fingerprint(tree / name)
        for name in names
        if not name.startswith(f"{FORMER_STATE_FOLDER}/")
        and not name.endswith("/")
        and _copy(source / name, tree / name)
    }


def _copy(source: Path, target: Path) -> bool:
    """Copy a file or a link as it is; never over something the checkout has."""
    if os.path.lexists(target) or not (source.is_symlink() or source.is_file()):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
    return True


def fingerprint(path: Path) -> str:
    """Tells whether a copied file was changed since; a link counts by where it leads."""
    if path.is_symlink():
        return f"link {path.readlink()}"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
