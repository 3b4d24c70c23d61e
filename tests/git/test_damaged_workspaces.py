"""Workspaces that an agent damaged: what can be taken is taken, the rest becomes evidence (D10)."""

import subprocess
from collections.abc import Callable

import pytest

from interlock.git.errors import GitFailed, is_outside
from interlock.git.protocol import Workspace
from interlock.model.errors import EnvironmentProblem, RejectedObjects
from tests.git.agents import TASK, collected, committed, opened
from tests.git.world import World, run, write


@pytest.mark.parametrize("how", ["gone", "a file", "a link"])
def test_a_missing_git_dir_of_the_agent_is_no_history_and_the_files_count(world: World, how: str) -> None:
    workspace = opened(world)
    private = workspace.home / "private.git"
    committed(workspace, {"x.txt": "x\n"})
    subprocess.run(["rm", "-rf", private], check=True)
    if how == "a file":
        private.write_text("nothing\n")
    elif how == "a link":
        private.symlink_to(world.root / ".git")
    result = collected(world, workspace)
    assert result.touched == ("x.txt",)
    run(world.workspaces.discard(workspace))
    assert [left.state for left in world.workspaces.listing()] == ["trash"]


def index_gone(workspace: Workspace) -> None:
    (workspace.home / "index").unlink()


def index_broken(workspace: Workspace) -> None:
    (workspace.home / "index").write_bytes(b"DIRC" + b"x" * 100)


def index_is_a_folder(workspace: Workspace) -> None:
    index_gone(workspace)
    (workspace.home / "index").mkdir()


def home_is_shut(workspace: Workspace) -> None:
    index_gone(workspace)
    workspace.home.chmod(0o500)


@pytest.mark.parametrize(
    "damage",
    [index_gone, index_broken, index_is_a_folder, home_is_shut],
    ids=lambda function: function.__name__,
)
def test_a_workspace_that_the_agent_damaged_is_refused_and_becomes_evidence(
    world: World, damage: Callable[[Workspace], None]
) -> None:
    """Trying again would fail for ever; throwing it away would lose what is still in it (D10)."""
    workspace = opened(world)
    write(workspace.path, {"x.txt": "x\n"})
    damage(workspace)
    with pytest.raises(RejectedObjects):
        collected(world, workspace)
    evidence = run(world.workspaces.discard(workspace))
    assert [(left.state, left.path) for left in world.workspaces.listing()] == [("evidence", evidence)]
    assert evidence is not None
    assert (evidence / "tree" / "x.txt").exists()


def test_our_own_git_dir_is_made_again_if_it_is_gone(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {"x.txt": "x\n"})
    subprocess.run(["rm", "-rf", workspace.home / "trusted.git"], check=True)
    assert collected(world, workspace).touched == ("x.txt",)


def test_a_full_disk_is_not_the_agents_doing(world: World) -> None:
    workspace = opened(world)
    alternates = workspace.home / "trusted.git" / "objects" / "info" / "alternates"
    alternates.unlink()
    alternates.symlink_to("/dev/full")
    with pytest.raises(EnvironmentProblem, match="No space left"):
        collected(world, workspace)


@pytest.mark.parametrize("note", ["", "{", "[]", '{"task": 1}', None])
def test_a_workspace_whose_note_the_agent_broke_is_evidence(world: World, note: str | None) -> None:
    """The note is written in one piece: a broken one is no sign of a workspace that was never finished."""
    workspace = opened(world)
    write(workspace.path, {"x.txt": "x\n"})
    path = workspace.home / "workspace.json"
    path.unlink()
    path.mkdir() if note is None else path.write_text(note)
    assert run(world.workspaces.find(TASK, 1)) is None
    (left,) = world.workspaces.listing()
    assert left.state == "evidence"
    assert (left.path / "tree" / "x.txt").exists()
    assert opened(world) == workspace


def test_what_an_agent_calls_a_file_is_not_taken_for_a_full_disk() -> None:
    assert is_outside(GitFailed("add", "error: x\nfatal: write error: No space left on device\n"))
    named = 'error: open("No space left on device"): Permission denied\nfatal: adding files failed\n'
    assert not is_outside(GitFailed("add", named))
