"""The interface of a repository, as the engine uses it."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from interlock.model.history import BranchHistory
from interlock.model.outcome import Landing, Merge, Move, Tip
from interlock.model.radar import Queued, Sighting
from interlock.model.sandbox import Grant
from interlock.model.task import AttemptKey, Change, Commit, TaskId, Tree

DIFF_BYTES = 16 << 20
"""The most that `Repository.diff` shows."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """One attempt's own directory, with a private git dir the host never trusts."""

    task: TaskId
    attempt: int
    base: Commit
    path: Path
    """The path where the agent finds it: that of the checkout, or of a copy."""
    home: Path
    """The attempt's state directory: private git dir, trusted git dir, prompt."""
    grant: Grant = field(default_factory=Grant)
    """The paths that its agent may reach there."""

    @property
    def git_dir(self) -> Path:
        """The private git dir, which is the agent's."""
        return self.home / "private.git"

    @property
    def written(self) -> Path:
        """The files that the agent wrote; in a copy, with all other files."""
        return self.home / "tree"


@dataclass(frozen=True, slots=True)
class CheckRoom:
    """A clean directory for one check."""

    path: Path
    """The path where its command finds it."""
    grant: Grant


@dataclass(frozen=True, slots=True)
class Collected:
    """The content of a workspace, now in the repository's own object store under `ref`."""

    commit: Commit
    ref: str
    changed: bool
    """False when nothing differs from the base."""
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A commit that a rebase made from another one: the same author, time and message under a new id."""

    commit: Commit
    tree: Tree
    parent: Commit


@dataclass(frozen=True, slots=True)
class Divergence:
    """The branch and its upstream each have commits that the other has not."""

    upstream: str
    """Its usual name, like `origin/main`."""
    main: Tip
    theirs: Commit
    merge: Merge
    """The merge of both, or the paths that conflict."""
    changed: tuple[str, ...] = ()
    """Paths in which the merge differs from either side."""


Resolve = Callable[[Merge], Awaitable[Merge]]
"""Resolves the conflict of a merge, if there is one and that is safe; otherwise returns it as it was."""


class Repository(Protocol):
    """The one path to the user's repository. Every git call of the host is behind it."""

    async def tip(self) -> Tip:
        """Return the current tip of the protected branch."""
        ...

    async def fetch(self) -> str:
        """Fast-forward the branch to its upstream where possible; what to tell the user, or nothing."""
        ...

    async def divergence(self) -> Divergence | None:
        """Merge the branch and its upstream, as last fetched, in memory; None if one contains the other."""
        ...

    async def fence_epoch(self) -> int:
        """The epoch below which nothing of this state folder may land; 0: there was none yet."""
        ...

    async def raise_fence(self, epoch: int) -> None:
        """Allow only landings of this epoch, or of a later one, to move the branch from now on."""
        ...

    async def settle(self) -> str:
        """Finish what a crash left between a move of the branch and the user's own checkout of it.

        Safe at any time; says what it could not do.
        """
        ...

    async def merge(self, onto: Commit, work: Commit, base: Commit) -> Merge:
        """Merge in memory what `work` changed since `base` onto `onto`."""
        ...

    async def merge_all(self, onto: Commit, changes: Sequence[Change], resolve: Resolve) -> list[Merge]:
        """Merge these changes in memory, one after the other, up to the first conflict that stays one.

        Each merge has those before it too."""
        ...

    async def commit(self, tree: Tree, parent: Commit, message: str, *merged: Commit) -> Commit:
        """A commit of this tree, on no branch yet; with `merged`, a merge of these into `parent`."""
        ...

    async def land(self, landing: Landing) -> Move:
        """Move the branch, atomically, if it and the fence are still where the landing says.

        Safe to repeat: a commit that is already on the branch counts as moved.
        """
        ...

    async def obstacle(self, landing: Landing) -> str:
        """Say what holds a landing up (`Move.HELD`), and what the user can do about it."""
        ...

    async def missing(self, commits: Collection[Commit]) -> frozenset[Commit]:
        """Find those of these commits that are not on the protected branch."""
        ...

    async def rewritten(self, gone: Collection[Commit]) -> Mapping[Commit, Rewritten]:
        """Find on the branch what a rebase made of these commits, which are not on it any more."""
        ...

    async def landings(self) -> Mapping[str, Tip]:
        """List the commits that landed for each task and are on the branch, by `ref_word` of the task."""
        ...

    async def contains(self, commit: Commit) -> bool:
        """Return True if the commit is on the protected branch."""
        ...

    async def diff(self, old: str, new: str, paths: Sequence[str] = ()) -> str:
        """Return the diff of two commits as text, of these paths only if any are given."""
        ...

    async def past(self) -> BranchHistory:
        """Return the files that were changed together on the branch, and the files it has now."""
        ...


class Radar(Protocol):
    """Looks at the workspaces of running agents, without changing anything in them."""

    async def look(
        self, running: Collection[AttemptKey], queued: Collection[Queued], main: Commit
    ) -> Sighting | None:
        """Return all overlaps as they are now; None: it is too soon for another look."""
        ...

    async def close(self) -> None:
        """Remove what the looks have made."""
        ...
