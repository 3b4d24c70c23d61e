"""Git processes that stay for a whole run say and write the same as one that is started each time."""

import asyncio
import gc
import os
import re
import select
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from interlock.git.command import Git
from interlock.git.commits import commit_text
from interlock.git.discover import discover
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.git.repository import GitRepository
from interlock.git.resident import Resident, whole_lines
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import Landing, Move
from interlock.model.task import TaskId
from tests.git.world import World, git, run, write
from tests.run.tree import children_running


def staying(world: World, story: Callable[[Place], Awaitable[None]]) -> None:
    place = world.place

    async def tell() -> None:
        async with place.kept_open() as kept:
            await story(kept)

    run(tell())


def processes() -> list[psutil.Process]:
    """Our own git processes."""
    return children_running("--git-dir")


def test_differences_are_those_that_diff_tree_tells(world: World) -> None:
    odd = "end\nA\0".rstrip("\0")
    old = world.main
    new = world.made({odd: "x\n", "a.txt": "other\n", "src/b.txt": None, "ü.txt": "u\n"}, old)

    async def story(place: Place) -> None:
        for before, after in ((old, new), (new, old), (old, old)):
            alone = await Git(place.common_dir).changes(before, after)
            assert await place.git.changes(before, after) == alone
        assert len(await place.git.changes(old, new)) == 4

    staying(world, story)


@pytest.mark.slow
def test_a_question_given_up_at_any_moment_leaves_neither_process_nor_pipe(world: World) -> None:
    """Also while git is being started. (An open pipe is a warning, and so an error.)"""

    alone = Git(world.place.common_dir)

    async def give_up_after(steps: int, times: int) -> None:
        resident = Resident(alone, "cat-file", "--batch-check")
        asking = asyncio.create_task(resident.ask(b"HEAD\n", lambda answers: whole_lines(answers, 2)))
        for _ in range(steps):
            await asyncio.sleep(0)
        for _ in range(times):  # by who asked, and by the end of the run
            asking.cancel()
            select.select([], [], [], 0.002)
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asking
        await resident.close()

    for steps, times in ((steps, steps % 3 + 1) for steps in range(9)):
        run(give_up_after(steps, times))
        gc.collect()
        assert processes() == []


@pytest.mark.slow
def test_a_difference_larger_than_any_pipe_arrives_whole(world: World) -> None:
    old = world.main
    files = {f"{'long-name-' * 20}{number}.txt": "x\n" for number in range(600)}
    new = world.commit(files)

    async def story(place: Place) -> None:
        changes = await place.git.changes(old, new)
        assert {path.decode() for _, path in changes} == files.keys()
        assert {status for status, _ in changes} == {b"A"}

    staying(world, story)


def test_trees_that_are_not_there_are_an_error_and_the_next_question_has_its_own_answer(world: World) -> None:
    old = world.main
    new = world.made({"n.txt": "n\n"}, old)

    async def story(place: Place) -> None:
        with pytest.raises(GitFailed, match="cannot be read"):
            await place.git.changes(old, "12" * 20)
        assert await place.git.changes(old, new) == [(b"A", b"n.txt")]

    staying(world, story)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Ada", "  .Ada, Countess <of> Lovelace;", 'Ünal "X" O\'Neil'])
def test_a_commit_is_worded_as_git_words_it(world: World, name: str) -> None:
    git(world.root, "config", "user.name", name)

    async def story() -> tuple[str, str]:
        async with (await discover(world.root)).kept_open() as place:
            kept, alone = GitRepository(place), GitRepository(await discover(world.root))
            tree = world.tree("HEAD")
            return await kept.commit(tree, world.main, "why\n\nmore\n"), await alone.commit(
                tree, world.main, "why\n\nmore\n"
            )

    kept, alone = (
        [*re.split(r" \d+ ", git(world.root, "cat-file", "commit", made))] for made in run(story())
    )
    assert kept == alone
    git(world.root, "fsck", "--strict", "--no-dangling")


def test_a_name_of_nothing_but_signs_still_makes_a_commit(world: World) -> None:
    git(world.root, "config", "user.name", "...")
    text = commit_text(run(discover(world.root)), world.tree("HEAD"), [world.main], "x\n")
    assert b"\nauthor Interlock <" in text


@pytest.mark.slow
def test_work_is_imported_and_landed_also_when_every_resident_dies_in_between(world: World) -> None:
    async def story(place: Place) -> None:
        repository, workspaces = GitRepository(place), GitWorkspaces(place)
        await repository.raise_fence(1)
        for number in range(3):
            tip = await repository.tip()
            workspace = await workspaces.open(TaskId(f"t{number}"), 1, tip.commit)
            write(workspace.path, {f"{number}.txt": "x\n"})
            collected = await workspaces.collect(workspace, "x\n")
            assert collected.touched == (f"{number}.txt",)
            merge = await repository.merge(tip.commit, collected.commit, tip.commit)
            assert merge.tree is not None
            commit = await repository.commit(merge.tree, tip.commit, "land\n")
            assert await repository.land(Landing("main", commit, tip.commit, 1, merge.tree)) is Move.MOVED
            for child in processes():
                os.kill(child.pid, signal.SIGKILL)

    staying(world, story)
    assert git(world.root, "ls-files", "[0-9].txt").split() == ["0.txt", "1.txt", "2.txt"]
    assert world.status() == ""
    assert processes() == []
    git(world.root, "fsck", "--strict", "--no-dangling")


@pytest.mark.slow
def test_attempts_that_bring_the_same_objects_at_the_same_time_are_all_imported(world: World) -> None:
    async def story(place: Place) -> None:
        workspaces, base = GitWorkspaces(place), world.main
        opened = [await workspaces.open(TaskId(f"t{number}"), 1, base) for number in range(8)]
        for workspace in opened:
            write(workspace.path, {f"same/{name}.txt": f"{name}\n" for name in range(30)})
        brought = await asyncio.gather(*(workspaces.collect(workspace, "x\n") for workspace in opened))
        assert {len(collected.touched) for collected in brought} == {30}

    staying(world, story)
    git(world.root, "fsck", "--strict", "--no-dangling")


def test_refs_change_together_or_not_at_all(world: World) -> None:
    async def story(place: Place) -> None:
        assert place.scribe is not None
        await place.scribe.set_refs(f"update refs/interlock/one {world.main}\n")
        with pytest.raises(GitFailed):
            await place.scribe.set_refs(
                f"update refs/interlock/two {world.main}\nupdate refs/interlock/one/below {world.main}\n"
            )
        assert await place.git.names("refs/interlock/one", "refs/interlock/two") == [world.main, None]
        await place.scribe.set_refs("delete refs/interlock/one\n")
        assert await place.git.names("refs/interlock/one") == [None]

    staying(world, story)


@pytest.mark.slow
def test_when_a_ref_cannot_be_written_git_says_why(world: World) -> None:
    async def story(place: Place) -> None:
        workspaces = GitWorkspaces(place)
        workspace = await workspaces.open(TaskId("t"), 1, world.main)
        lock = place.common_dir / "refs" / "interlock" / "work" / "t" / "1.lock"
        lock.parent.mkdir(parents=True)
        lock.touch()
        with pytest.raises(Exception, match=r"1\.lock"):
            await workspaces.collect(workspace, "x\n")

    staying(world, story)


@pytest.mark.slow
def test_merging_onto_our_own_commits_finds_the_same_base_as_git(world: World) -> None:
    """Also when the work is a merge itself, or stands on the line already."""
    base = world.main

    async def story(place: Place) -> None:
        repository = GitRepository(place)
        onto = base
        for number in range(3):
            tree = world.tree(world.made({f"{number}.txt": "x\n"}, onto))
            onto = await repository.commit(tree, onto, "ours\n")
        work = world.made({"w.txt": "w\n"}, base)
        merged = git(world.root, "commit-tree", world.tree(work), "-p", base, "-p", work, "-m", "m")
        for change in (work, merged, onto):
            kept = await repository.merge(onto, type(base)(change), base)
            assert kept == await GitRepository(world.place).merge(onto, type(base)(change), base)
            assert kept.tree is not None

    staying(world, story)


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
