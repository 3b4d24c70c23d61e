"""D10: nothing an agent wrote is deleted unarchived; the trash is emptied late, and only of what is safe."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.git.protocol import Workspace
from interlock.git.trash import LeftState
from interlock.model.task import TaskId
from tests.git.world import World, git, run, write


def opened(world: World, files: dict[str, str]) -> Workspace:
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    write(workspace.path, files)
    return workspace


def trashed(world: World) -> list[Path]:
    trash = world.root / ".git/interlock" / "trash"
    return sorted(trash.iterdir()) if trash.exists() else []


def test_a_collected_workspace_is_deleted(world: World) -> None:
    workspace = opened(world, {"x.txt": "x\n"})
    workspaces = world.workspaces
    run(workspaces.collect(workspace, "x\n"))
    assert [left.state for left in workspaces.listing()] == [LeftState.COLLECTED]
    run(workspaces.discard(workspace))
    assert not workspace.home.exists()
    assert workspaces.listing() == []
    run(workspaces.close())
    assert trashed(world) == []
    assert (
        git(world.root, "for-each-ref", "--format=%(refname)", "refs/interlock") == "refs/interlock/work/t/1"
    )


def test_discarding_twice_is_safe(world: World) -> None:
    workspace = opened(world, {})
    run(world.workspaces.collect(workspace, "x\n"))
    run(world.workspaces.discard(workspace))
    run(world.workspaces.discard(workspace))


def test_ignored_files_go_to_the_trash(world: World) -> None:
    workspace = opened(world, {"x.log": "much work\n", "build/out": "o\n"})
    run(world.workspaces.collect(workspace, "x\n"))
    run(world.workspaces.discard(workspace))
    (kept,) = trashed(world)
    assert (kept / "tree" / "x.log").read_text() == "much work\n"
    assert not workspace.home.exists()


def test_files_written_after_collecting_go_to_the_trash(world: World) -> None:
    workspace = opened(world, {})
    run(world.workspaces.collect(workspace, "x\n"))
    write(workspace.path, {"late.txt": "late\n"})
    run(world.workspaces.discard(workspace))
    assert (trashed(world)[0] / "tree" / "late.txt").exists()


def test_no_file_in_the_trash_gives_its_owners_rights(world: World) -> None:
    workspace = opened(world, {"tool.log": "x\n", "plain.log": "x\n"})
    tool, plain = workspace.path / "tool.log", workspace.path / "plain.log"
    tool.chmod(0o6755)
    plain.chmod(0o755)
    run(world.workspaces.discard(workspace))
    (kept,) = trashed(world)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (kept / "tree").glob("*.log")}
    assert modes == {"tool.log": 0o755, "plain.log": 0o755}


def test_what_was_never_collected_is_never_deleted(world: World) -> None:
    workspace = opened(world, {"x.txt": "x\n"})
    assert [left.state for left in world.workspaces.listing()] == [LeftState.OPEN]
    run(world.workspaces.discard(workspace))
    assert [left.state for left in world.workspaces.listing()] == [LeftState.EVIDENCE]
    assert run(world.workspaces.gc(0)) == []
    assert (trashed(world)[0] / "tree" / "x.txt").exists()


@pytest.mark.slow
@pytest.mark.crash
def test_what_a_killed_run_had_no_time_to_delete_is_deleted_by_the_next(world: World) -> None:
    trash = world.root / ".git/interlock" / "trash"
    write(trash / ".deleting-t-1-0" / "tree", {"x": "x\n"})
    write(trash / "t-1-0" / "tree", {"mine": "x\n"})
    workspaces = world.workspaces
    assert [left.state for left in workspaces.listing()] == [LeftState.TRASH, LeftState.EVIDENCE]

    run(workspaces.close())
    assert [left.path.name for left in workspaces.listing()] == ["t-1-0"]
    assert (trash / "t-1-0" / "tree" / "mine").exists()


@pytest.mark.slow
def test_folders_that_somebody_else_deletes_meanwhile_are_no_trouble(world: World) -> None:
    """`interlock gc` beside a run, which deletes what it no longer needs when it has the time."""
    trash = world.root / ".git/interlock" / "trash"
    for number in range(300):
        write(trash / f".deleting-t-{number}-0" / "tree", {"x": "x\n"})
    argv = [sys.executable, "-c", "import shutil, sys; [shutil.rmtree(p) for p in sys.argv[1:]]"]
    with subprocess.Popen([*argv, *map(str, sorted(trash.iterdir()))]) as other:
        while other.poll() is None:
            world.workspaces.listing()
            run(world.workspaces.gc(3600.0))
    assert (other.returncode, trashed(world)) == (0, [])


def test_the_trash_is_emptied_of_what_is_old_enough(world: World) -> None:
    workspace = opened(world, {"x.log": "l\n"})
    (workspace.path / "shut").mkdir(mode=0o500)
    run(world.workspaces.collect(workspace, "x\n"))
    run(world.workspaces.discard(workspace))
    (kept,) = trashed(world)
    assert run(world.workspaces.gc(3600)) == []
    os.utime(kept, (0, 0))
    assert [left.path for left in run(world.workspaces.gc(3600, dry_run=True))] == [kept]
    assert kept.exists()
    assert [left.path for left in run(world.workspaces.gc(3600))] == [kept]
    assert trashed(world) == []
