"""Rooms for checks that are not confined, so that a test sees what its commands leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.git.workspaces import GitWorkspaces
from interlock.model.task import Tree


@dataclass(frozen=True)
class OpenRoom:
    """A directory that a command is not kept in."""

    path: Path
    grant: None = None


@dataclass(frozen=True)
class OpenRooms:
    """The real rooms without their grants."""

    workspaces: GitWorkspaces

    async def check_out(self, tree: Tree, home: Path, *, inputs: Sequence[str] = ()) -> OpenRoom:
        """As `Rooms` says."""
        return OpenRoom((await self.workspaces.check_out(tree, home, inputs=inputs)).path)

    async def clear(self, home: Path) -> None:
        """As `Rooms` says."""
        await self.workspaces.clear(home)
