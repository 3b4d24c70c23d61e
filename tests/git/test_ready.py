"""Workspaces that are made ahead: the same as any other, and gone when nobody comes for them (P4)."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.git.chores import Chores
from interlock.git.ready import MOST_READY, Ready
from interlock.git.workspaces import GitWorkspaces
from interlock.model.task import TaskId
from tests.git.agents import TASK, collected, committed
from tests.git.world import World, git, run, write

OTHER = TaskId("other")


def stocked(world: World, count: int = 1) -> Ready:
    ready = Ready(world.place)
    assert ready.foresee(count, world.main)
    run(ready.fill())
    return ready


def shelf(world: World) -> list[Path]:
    return sorted((world.root / ".git/interlock" / "ready").glob("*/*"))


def listing(home: Path) -> dict[str, bytes]:
    """All files but the indexes, which know their inodes, and the note, which knows the attempt."""
    found = (path for path in sorted(home.rglob("*")) if path.is_file() and not path.name.startswith("index"))
    return {str(path.relative_to(home)): path.read_bytes() for path in found if path.name != "workspace.json"}


def test_one_that_was_made_ahead_is_the_same_as_one_that_was_not(world: World) -> None:
    workspaces = GitWorkspaces(world.place, ready=stocked(world))
    (made,) = shelf(world)
    inode = (made / "tree").stat().st_ino
    ahead = run(workspaces.open(TASK, 1, world.main))
    anew = run(workspaces.open(TASK, 2, world.main))
    assert ahead.path.stat().st_ino == inode != anew.path.stat().st_ino
    assert listing(ahead.home) == listing(anew.home)
    assert git(ahead.path, "status", "--porcelain=v2", "--branch").splitlines() == [
        f"# branch.oid {world.main}",
        "# branch.head task/fix-login/work",
    ]
    committed(ahead, {"x.txt": "1\n"})
    write(ahead.path, {"y.txt": "2\n"})
    assert collected(world, ahead).touched == ("x.txt", "y.txt")


def test_one_on_an_older_main_is_brought_to_where_main_is_now(world: World) -> None:
    workspaces = GitWorkspaces(world.place, ready=stocked(world))
    world.commit({"new.txt": "n\n", "a.txt": "changed\n"})
    workspace = run(workspaces.open(TASK, 1, world.main))
    assert shelf(world) == []
    assert (workspace.path / "a.txt").read_text() == "changed\n"
    assert git(workspace.path, "status", "--porcelain") == ""
    assert not collected(world, workspace).changed


def test_the_one_on_the_right_commit_is_taken_first_and_the_others_follow_main(world: World) -> None:
    ready = stocked(world, 2)
    before = world.main
    world.commit({"new.txt": "n\n"})
    workspaces = GitWorkspaces(world.place, ready=ready)
    ready.foresee(2, world.main)
    run(ready.fill())
    assert [(path / "tree" / "new.txt").exists() for path in shelf(world)] == [True, True]
    old = run(workspaces.open(TASK, 1, before))
    assert not (old.path / "new.txt").exists()
    assert git(old.path, "status", "--porcelain") == ""


def test_a_session_that_goes_on_gets_its_own_state_and_not_the_base(world: World) -> None:
    workspaces = GitWorkspaces(world.place, ready=stocked(world, 2))
    first = run(workspaces.open(TASK, 1, world.main))
    head = committed(first, {"half.txt": "h\n"})
    left = collected(world, first)
    second = run(workspaces.open(TASK, 2, world.main, left.ref))
    assert (second.path / "half.txt").read_text() == "h\n"
    assert git(second.path, "rev-parse", "HEAD", "main").splitlines() == [head, world.main]


def test_when_fewer_are_foreseen_the_rest_is_removed_and_closing_removes_all(world: World) -> None:
    ready = stocked(world, 3)
    ready.foresee(1, world.main)
    run(ready.fill())
    assert len(shelf(world)) == 1
    run(GitWorkspaces(world.place, ready=ready).close())
    assert [*(world.root / ".git/interlock" / "ready").iterdir()] == []


@pytest.mark.slow
def test_nothing_is_left_of_one_whose_making_was_given_up(world: World) -> None:
    """However far it had come: what a thread is at work on is not removed under its hands."""
    shelves, place, main = world.root / ".git/interlock" / "ready", world.place, world.main

    async def given_up(turns: int) -> None:
        ready = Ready(place)
        ready.foresee(MOST_READY, main)
        filling = asyncio.create_task(ready.fill())
        for _ in range(turns):
            await asyncio.sleep(0)
        filling.cancel()
        await asyncio.wait([filling])
        await ready.close()

    for turns in range(1, 60, 3):
        run(given_up(turns))
        assert [*shelves.glob("*")] == []


def test_the_same_forecast_is_no_news_and_there_is_a_most(world: World) -> None:
    ready = Ready(world.place)
    assert ready.foresee(10**6, world.main)
    assert not ready.foresee(MOST_READY, world.main)
    assert ready.foresee(0, world.main)


def test_what_a_killed_process_had_ready_is_removed_and_a_living_ones_is_not(world: World) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    state = world.root / ".git/interlock" / "ready"
    for pid in (gone.pid, os.getpid()):
        write(state / f"{pid}-abcdef" / "w", {"tree/x": "x\n"})
    stocked(world)
    assert not (state / f"{gone.pid}-abcdef").exists()
    assert (state / f"{os.getpid()}-abcdef" / "w" / "tree" / "x").exists()


@pytest.mark.parametrize("damage", ["removed", "a base that does not exist"])
def test_what_goes_wrong_ahead_keeps_nobody_from_a_workspace(world: World, damage: str) -> None:
    ready = stocked(world)
    if damage == "removed":
        for path in shelf(world):
            subprocess.run(["rm", "-r", str(path)], check=True)
    else:
        ready.foresee(2, "0" * 40)
        run(ready.fill())
        assert shelf(world) == []
    workspace = run(GitWorkspaces(world.place, ready=ready).open(OTHER, 1, world.main))
    assert git(workspace.path, "status", "--porcelain") == ""


def test_chores_wait_until_nothing_else_is_to_be_done_and_are_then_done_in_order() -> None:
    async def scenario() -> list[str]:
        done: list[str] = []
        over = asyncio.Event()

        async def first() -> None:
            done.append("first")

        async def second() -> None:
            done.append("second")
            over.set()

        chores = Chores(first, second, quiet_seconds=0.01)
        for _ in range(3):
            chores.put_off()
        await over.wait()
        await chores.close()
        return done

    assert run(scenario()) == ["first", "second"]


def test_chores_that_an_ended_loop_left_undone_are_done_in_the_next_one() -> None:
    """A process that opens a project twice has two loops, and the first may end at any moment."""
    done = asyncio.Event()

    async def act() -> None:
        done.set()

    chores = Chores(act, quiet_seconds=0.001)

    async def put_off() -> None:
        chores.put_off()

    async def put_off_and_wait() -> None:
        chores.put_off()
        await done.wait()

    run(put_off())
    assert not done.is_set()
    run(put_off_and_wait())
    run(chores.close())
