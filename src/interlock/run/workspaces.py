"""The Protocols of workspaces that this package needs, so that it need not know their maker."""

from pathlib import Path
from typing import Protocol, TypeVar

from interlock.model.sandbox import Grant
from interlock.model.task import Commit, TaskId


class AttemptWorkspace(Protocol):
    """One attempt's own directory."""

    @property
    def path(self) -> Path:
        """Return the path at which its agent finds it."""
        ...

    @property
    def written(self) -> Path:
        """The folder that holds what the agent writes, as it is named outside."""
        ...

    @property
    def home(self) -> Path:
        """The attempt's state, beside the directory."""
        ...

    @property
    def grant(self) -> Grant:
        """Return its agent's permissions there."""
        ...

    @property
    def base(self) -> Commit: ...


class CollectedWork(Protocol):
    """The contents of a workspace, now in the repository."""

    @property
    def commit(self) -> Commit: ...

    @property
    def ref(self) -> str: ...

    @property
    def changed(self) -> bool: ...

    @property
    def touched(self) -> tuple[str, ...]: ...


W = TypeVar("W", bound=AttemptWorkspace)


class AttemptWorkspaces(Protocol[W]):
    """Makes, collects and gives up workspaces.

    `collect` raises `RejectedObjects` when it never will, and another `InterlockError` when it cannot now.
    """

    async def open(self, task: TaskId, attempt: int, base: Commit, start: str = "") -> W:
        """A checkout of `base`; or of `start`, which an earlier attempt on the same base left."""
        ...

    async def collect(self, workspace: W, message: str) -> CollectedWork: ...

    async def discard(self, workspace: W) -> Path | None:
        """Remove it; return the folder that keeps what is not in the repository."""
        ...

    async def find(self, task: TaskId, attempt: int) -> W | None: ...
