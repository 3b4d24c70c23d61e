"""The process that answers all questions about names: it may die or hang, its answers stay right."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.lookup import Lookup
from interlock.model.errors import EnvironmentProblem
from tests.git.world import World, git, run, write
from tests.run.tree import children_running


def asked(world: World, story: Callable[[Lookup], Awaitable[None]], patience_seconds: float = 60.0) -> None:
    lookup = Lookup(Git(world.place.common_dir), patience_seconds)

    async def tell() -> None:
        try:
            await story(lookup)
        finally:
            await lookup.close()

    run(tell())


def children() -> list[psutil.Process]:
    """Our own git processes that answer questions."""
    return children_running("cat-file")


def test_many_questions_have_one_process_and_closing_ends_it(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        assert await lookup.names(["HEAD", "refs/heads/none", "main"]) == [world.main, None, world.main]
        assert await lookup.names([]) == []
        assert await lookup.names(["HEAD^{tree}"]) == [world.tree("HEAD")]
        assert len(children()) == 1

    asked(world, story)
    assert children() == []


@pytest.mark.slow
def test_new_refs_and_new_objects_are_seen_at_once(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        assert await lookup.names(["main"]) == [world.main]
        new = world.commit({"c.txt": "c\n"})
        assert await lookup.names(["main", "refs/heads/side"]) == [new, None]
        write(world.root, {"loose.txt": "loose\n"})
        blob = git(world.root, "hash-object", "-w", "loose.txt")
        git(world.root, "branch", "side")
        assert await lookup.names([blob, "refs/heads/side"]) == [blob, new]
        git(world.root, "pack-refs", "--all")
        git(world.root, "gc", "-q")
        git(world.root, "branch", "-q", "-D", "side")
        assert await lookup.names(["main", "refs/heads/side"]) == [new, None]

    asked(world, story)


@pytest.mark.slow
def test_many_names_at_once_do_not_fill_the_pipes(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        assert set(await lookup.names(["HEAD"] * 4_000)) == {world.main}
        unknown = [f"refs/heads/{'x' * 200}/{number}" for number in range(2_000)]
        assert set(await lookup.names(unknown)) == {None}

    asked(world, story)


@pytest.mark.slow
def test_what_git_complains_about_does_not_stop_it(world: World) -> None:
    """It warns of each name that could be two things; together that is more than a pipe holds."""

    async def story(lookup: Lookup) -> None:
        git(world.root, "branch", "twin")
        git(world.root, "tag", "twin")
        assert set(await lookup.names(["twin"] * 10_000)) == {world.main}

    asked(world, story)


def test_when_the_process_dies_between_questions_a_new_one_answers(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        await lookup.names(["HEAD"])
        (child,) = children()
        os.kill(child.pid, signal.SIGKILL)
        assert await lookup.names(["HEAD", "none"]) == [world.main, None]

    asked(world, story)


@pytest.mark.slow
def test_when_the_process_hangs_a_new_one_answers(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        await lookup.names(["HEAD"])
        (child,) = children()
        child.suspend()
        assert await lookup.names(["HEAD"]) == [world.main]

    asked(world, story, patience_seconds=3.0)


def test_a_question_that_is_cancelled_does_not_shift_the_answers(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        await lookup.names(["HEAD"])
        for steps in range(6):
            question = asyncio.create_task(lookup.names(["HEAD^{tree}"] * 3))
            for _ in range(steps):
                await asyncio.sleep(0)
            question.cancel()
            await asyncio.wait([question])
            assert await lookup.names(["HEAD", "none"]) == [world.main, None]

    asked(world, story)


@pytest.mark.slow
def test_a_question_that_is_cancelled_while_the_dead_process_is_replaced_shifts_nothing(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        for steps in range(0, 40, 3):
            await lookup.names(["HEAD"])
            os.kill(children()[0].pid, signal.SIGKILL)
            question = asyncio.create_task(lookup.names(["HEAD^{tree}"] * 3))
            for _ in range(steps):
                await asyncio.sleep(0)
            question.cancel()
            await asyncio.wait([question])
            assert await lookup.names(["HEAD", "none"]) == [world.main, None]
        assert len(children()) == 1

    asked(world, story)


def test_questions_that_overlap_each_get_their_own_answer(world: World) -> None:
    async def story(lookup: Lookup) -> None:
        names = ["HEAD", "HEAD^{tree}", "none"] * 5
        answers = await asyncio.gather(*(lookup.names([name]) for name in names))
        assert answers == [[world.main], [world.tree("HEAD")], [None]] * 5

    asked(world, story)


@pytest.mark.parametrize(
    ("mode", "error"), [(None, EnvironmentProblem), (0o644, EnvironmentProblem), (0o755, GitFailed)]
)
def test_a_git_that_cannot_be_started_or_ends_at_once_is_said(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int | None, error: type[Exception]
) -> None:
    place = world.place
    folder = tmp_path / "bin"
    folder.mkdir()
    if mode is not None:
        (folder / "git").write_text("#!/bin/sh\nexit 1\n")
        (folder / "git").chmod(mode)
    monkeypatch.setenv("PATH", str(folder))

    async def story() -> None:
        lookup = Lookup(Git(place.common_dir))
        with pytest.raises(error, match="git"):
            await lookup.names(["HEAD"])
        await lookup.close()

    run(story())
