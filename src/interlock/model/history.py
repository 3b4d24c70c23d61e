"""Past changes of a branch: the files that were changed together."""

from dataclasses import dataclass

from interlock.model.task import Commit


@dataclass(frozen=True, slots=True)
class PastCommit:
    """One commit of the branch."""

    commit: Commit
    paths: tuple[str, ...]
    """The changed files, by their names of today."""


@dataclass(frozen=True, slots=True)
class BranchHistory:
    """The past changes of a branch."""

    changes: tuple[PastCommit, ...] = ()
    """The latest ones, oldest first. Imports and reformattings say nothing about what belongs together, and
    are not among them."""
    files: frozenset[str] = frozenset()
    """All paths on the branch today."""
