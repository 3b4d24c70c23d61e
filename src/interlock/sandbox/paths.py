"""Paths as text: they may name what is not there, or not there yet."""

from collections.abc import Sequence


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Tell if it is one of the folders, or in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
