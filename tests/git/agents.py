"""An agent in its workspace, and the host around it."""

from interlock.git.protocol import Collected, Workspace
from interlock.model.task import TaskId
from tests.git.world import World, git, run, write

TASK = TaskId("fix-login")


def opened(world: World, attempt: int = 1, task: TaskId = TASK) -> Workspace:
    return run(world.workspaces.open(task, attempt, world.main))


def collected(world: World, workspace: Workspace) -> Collected:
    return run(world.workspaces.collect(workspace, "What the agent left\n"))


def names(world: World, revision: str) -> list[str]:
    return git(world.root, "ls-tree", "-r", "-z", "--name-only", revision).rstrip("\0").split("\0")


def committed(workspace: Workspace, files: dict[str, str], message: str = "agent") -> str:
    """The agent writes and commits with its own git."""
    write(workspace.path, files)
    git(workspace.path, "add", "-A")
    git(workspace.path, "commit", "-q", "-m", message)
    return git(workspace.path, "rev-parse", "HEAD")
