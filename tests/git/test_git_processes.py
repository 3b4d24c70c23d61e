"""Git processes one by one: what they answer, what they write together, and that none is left."""

import asyncio
import gc
import os
import select
from pathlib import Path

import psutil
import pytest

from interlock.git.command import Git
from interlock.git.discover import discover
from interlock.git.repository import GitRepository
from interlock.git.workspaces import GitWorkspaces
from interlock.model.task import TaskId
from tests.git.world import World, git, run, write
from tests.run.tree import children_running


def processes() -> list[psutil.Process]:
    """Our own git processes."""
    return children_running("--git-dir")


def test_each_name_has_its_own_answer_whatever_signs_are_in_it(world: World) -> None:
    """Git repeats a name that it does not know, and a file may be called nearly anything."""
    odd = "end \u2028 of\x0ba\x85line"
    world.commit({odd: "x\n"})
    blob = git(world.root, "rev-parse", f"HEAD:{odd}")
    place = world.place
    asked = ("HEAD", f"HEAD:{odd}", f"HEAD:no {odd}", "", "none", f"HEAD:a\n{odd}", "HEAD^{tree}")
    answers = run(place.git.names(*asked))
    assert answers == [world.main, blob, None, None, None, None, world.tree("HEAD")]
    assert run(place.git.names()) == []


@pytest.mark.slow
def test_many_names_at_once_do_not_fill_the_pipes(world: World) -> None:
    unknown = [f"refs/heads/{'x' * 200}/{number}" for number in range(2_000)]
    assert set(run(world.place.git.names(*unknown))) == {None}


@pytest.mark.slow
def test_a_process_given_up_at_any_moment_leaves_neither_itself_nor_a_pipe(world: World) -> None:
    """Also while git is being started. (An open pipe is a warning, and so an error.)"""
    alone = Git(world.place.common_dir)

    async def ask() -> None:
        reading, writing = os.pipe()  # it waits for a question that never comes
        try:
            with os.fdopen(reading, "rb") as feed:
                await alone.run("cat-file", "--batch-check", feed=feed)
        finally:
            os.close(writing)

    async def give_up_after(steps: int, times: int) -> None:
        asking = asyncio.create_task(ask())
        for _ in range(steps):
            await asyncio.sleep(0)
        for _ in range(times):  # by who asked, and by the end of the run
            asking.cancel()
            select.select([], [], [], 0.002)
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asking

    for steps, times in ((steps, steps % 3 + 1) for steps in range(9)):
        run(give_up_after(steps, times))
        gc.collect()
        assert processes() == []


def test_a_name_of_nothing_but_signs_still_makes_a_commit(world: World) -> None:
    git(world.root, "config", "user.name", "...")
    commit = run(GitRepository(run(discover(world.root))).commit(world.tree("HEAD"), world.main, "x\n"))
    assert git(world.root, "log", "-1", "--format=%an", commit) == "Interlock"


@pytest.mark.slow
def test_attempts_that_bring_the_same_objects_at_the_same_time_are_all_imported(world: World) -> None:
    place, base = world.place, world.main

    async def story() -> None:
        workspaces = GitWorkspaces(place)
        opened = [await workspaces.open(TaskId(f"t{number}"), 1, base) for number in range(8)]
        for workspace in opened:
            write(workspace.path, {f"same/{name}.txt": f"{name}\n" for name in range(30)})
        brought = await asyncio.gather(*(workspaces.collect(workspace, "x\n") for workspace in opened))
        assert {len(collected.touched) for collected in brought} == {30}

    run(story())
    git(world.root, "fsck", "--strict", "--no-dangling")


@pytest.mark.slow
def test_a_lock_that_a_killed_git_left_on_a_ref_of_ours_is_removed(world: World) -> None:
    place = world.place

    async def story() -> None:
        workspaces = GitWorkspaces(place)
        workspace = await workspaces.open(TaskId("t"), 1, world.main)
        lock = place.common_dir / "refs" / "interlock" / "work" / "t" / "1.lock"
        lock.parent.mkdir(parents=True)
        lock.touch()
        await workspaces.collect(workspace, "x\n")
        assert not lock.exists()

    run(story())


def test_when_a_ref_cannot_be_written_git_says_why(world: World) -> None:
    place = world.place

    async def story() -> None:
        workspaces = GitWorkspaces(place)
        workspace = await workspaces.open(TaskId("t"), 1, world.main)
        in_the_way = place.common_dir / "refs" / "interlock" / "work" / "t" / "1" / "x"
        in_the_way.mkdir(parents=True)
        (in_the_way / "y").touch()
        with pytest.raises(Exception, match="cannot create"):
            await workspaces.collect(workspace, "x\n")

    run(story())


def test_what_is_in_no_hurry_lets_others_go_first(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until its niceness is 10, and then says which process group it is in."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nuntil [ "$(nice)" = 10 ]; do :; done\nps -o pgid= -p $$\necho $$\n')
    program.chmod(0o755)
    git_dir = world.place.common_dir
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    said = run(Git(git_dir, unhurried=True).run("status", timeout=60))
    group, pid = said.line.split()
    assert group == pid
