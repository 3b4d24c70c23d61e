"""Finds the pre-commit hook of a repository. Interlock does not run it: the host starts no program of one."""

import os
from dataclasses import dataclass
from pathlib import Path

from interlock.git.place import Place


@dataclass(frozen=True, slots=True)
class CommitHook:
    """A hook that runs when a person commits, and not when a change lands."""

    path: str
    """Path of the hook, relative to the checkout if possible."""
    command: str
    """A command that runs the same as a check; empty if git does not track the hook."""


def commit_hook(place: Place) -> CommitHook | None:
    """The hook of this repository, if it has one."""
    root = place.work_tree
    if root is None:
        return None
    if (root / ".pre-commit-config.yaml").is_file():
        return CommitHook(".pre-commit-config.yaml", "pre-commit run --all-files")
    if (root / ".husky" / "pre-commit").is_file():
        return CommitHook(".husky/pre-commit", "sh .husky/pre-commit")
    folder = place.settings.get("core.hookspath", "")
    hook = (root / Path(folder).expanduser() if folder else place.common_dir / "hooks") / "pre-commit"
    if not hook.is_file() or not os.access(hook, os.X_OK):
        return None
    if hook.is_relative_to(root) and not hook.is_relative_to(place.common_dir):
        path = str(hook.relative_to(root))
        return CommitHook(path, f"./{path}")
    return CommitHook(os.path.relpath(hook, root) if hook.is_relative_to(root) else str(hook), "")
