"""The freshest main: fetched where that is possible, followed by fast-forward."""

import asyncio
from pathlib import Path

import pytest

from interlock.model.task import Commit
from tests.git.world import World, git, run, write


@pytest.fixture
def upstream(world: World, tmp_path: Path) -> World:
    """The world's main follows origin/main; this is somebody else's clone of origin."""
    git(tmp_path, "clone", "-q", "--bare", str(world.root), "origin.git")
    git(world.root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(world.root, "fetch", "-q", "origin")
    git(world.root, "branch", "-q", "--set-upstream-to=origin/main", "main")
    git(tmp_path, "clone", "-q", str(tmp_path / "origin.git"), "colleague")
    return World(tmp_path / "colleague")


def pushed(colleague: World, files: dict[str, str]) -> str:
    new = colleague.commit(files)
    git(colleague.root, "push", "-q", "origin", "main")
    return new


def test_without_an_upstream_there_is_nothing_to_say(world: World) -> None:
    assert run(world.repository.fetch()) == ""


def test_up_to_date_is_silent(world: World, upstream: World) -> None:
    assert run(world.repository.fetch()) == ""


@pytest.mark.slow
def test_a_branch_that_is_behind_is_moved_forward(world: World, upstream: World) -> None:
    new = pushed(upstream, {"c.txt": "c\n"})
    assert run(world.repository.fetch()) == "main fast-forwarded to origin/main (1 commit)"
    assert (world.main, world.status()) == (new, "")
    assert (world.root / "c.txt").exists()


@pytest.mark.slow
def test_several_fetches_at_the_same_time_do_not_disturb_each_other(world: World, upstream: World) -> None:
    repository = world.repository

    async def fetches() -> list[str]:
        return await asyncio.gather(*(repository.fetch() for _ in range(4)))

    pushed(upstream, {"c.txt": "c\n"})
    assert run(fetches()) == ["main fast-forwarded to origin/main (1 commit)", "", "", ""]


@pytest.mark.slow
def test_a_checkout_with_an_edit_of_the_same_file_is_not_moved(world: World, upstream: World) -> None:
    pushed(upstream, {"a.txt": "c\n"})
    old = world.main
    write(world.root, {"a.txt": "mine\n"})
    assert "uncommitted changes" in run(world.repository.fetch())
    assert world.main == old


@pytest.mark.slow
def test_a_diverged_branch_stays_and_is_merged_in_memory(world: World, upstream: World) -> None:
    assert run(world.repository.divergence()) is None
    theirs = pushed(upstream, {"c.txt": "c\n"})
    mine = world.commit({"d.txt": "d\n"})
    assert run(world.repository.fetch()) == ""
    assert world.main == mine
    found = run(world.repository.divergence())
    assert found
    assert (found.upstream, found.main.commit, found.theirs) == ("origin/main", mine, theirs)
    names = git(world.root, "ls-tree", "--name-only", str(found.merge.tree)).split()
    assert {"c.txt", "d.txt"} <= set(names)
    assert found.merge.tree
    made = run(world.repository.commit(found.merge.tree, mine, "merge\n", Commit(theirs)))
    assert git(world.root, "rev-parse", f"{made}^1", f"{made}^2").split() == [mine, theirs]


@pytest.mark.slow
def test_a_remote_may_be_relative_to_the_checkout(world: World, upstream: World) -> None:
    git(world.root, "remote", "set-url", "origin", "../origin.git")
    pushed(upstream, {"c.txt": "c\n"})
    assert run(world.repository.fetch()) == "main fast-forwarded to origin/main (1 commit)"


def test_a_remote_that_cannot_be_reached_is_a_warning(world: World, upstream: World, tmp_path: Path) -> None:
    (tmp_path / "origin.git").rename(tmp_path / "gone.git")
    said = run(world.repository.fetch())
    assert said.startswith("warning: cannot fetch origin/main")
    assert "\n" not in said


def test_a_local_upstream_is_followed_without_fetching(world: World) -> None:
    git(world.root, "branch", "ahead", world.made({"c.txt": "c\n"}, world.main))
    git(world.root, "branch", "-q", "--set-upstream-to=ahead", "main")
    assert run(world.repository.fetch()) == "main fast-forwarded to ahead (1 commit)"
