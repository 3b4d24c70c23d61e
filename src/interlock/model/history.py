"""What was changed together before."""

from dataclasses import dataclass

from interlock.model.task import Commit


@dataclass(frozen=True, slots=True)
class Change:
    """One commit of the branch."""

    commit: Commit
    paths: tuple[str, ...]
    """What it changed, by the names that the files have today."""


@dataclass(frozen=True, slots=True)
class Past:
    """How a branch came to be what it is."""

    changes: tuple[Change, ...] = ()
    """The latest ones, oldest first. Imports and reformattings say nothing about what belongs together, and
    are not among them."""
    files: frozenset[str] = frozenset()
    """All paths on the branch today."""
