"""What was changed together is read from the latest commits of the branch (D3)."""

import pytest

from interlock.git import history
from interlock.git.history import read_changes
from interlock.model.history import PastCommit
from tests.git.world import World, git, run

pytestmark = pytest.mark.slow


def changes(world: World) -> list[PastCommit]:
    return list(run(read_changes(world.place.git, world.place.ref)))


def paths(world: World) -> list[tuple[str, ...]]:
    return [change.paths for change in changes(world)]


def test_a_first_commit_says_nothing_about_what_belongs_together(world: World) -> None:
    assert len(git(world.root, "rev-list", "main").split()) == 1
    assert changes(world) == []


def test_a_merge_is_one_change_as_a_task_is(world: World) -> None:
    world.commit({"base.txt": "1"})
    git(world.root, "switch", "-q", "-c", "feature")
    world.commit({"one.txt": "1"})
    world.commit({"two.txt": "2"})
    git(world.root, "switch", "-q", "main")
    world.commit({"main.txt": "m"})
    git(world.root, "merge", "-q", "--no-edit", "feature")
    assert paths(world) == [("base.txt",), ("main.txt",), ("one.txt", "two.txt")]


def test_odd_names_are_names(world: World) -> None:
    world.commit({"with\nline.txt": "1", "\x01odd.txt": "2", "Läden 1.txt": "3"})
    assert set(paths(world)[0]) == {"with\nline.txt", "\x01odd.txt", "Läden 1.txt"}


def test_only_the_latest_commits_are_kept(world: World) -> None:
    feed = "".join(
        f"commit refs/heads/main\ncommitter A <a@example.invalid> {1_700_000_000 + number} +0000\ndata 0\n"
        f"{'from refs/heads/main^0' if number == 0 else ''}\nM 100644 inline f{number}.txt\ndata 1\nx\n"
        for number in range(history.COMMITS_MOST + 5)
    )
    git(world.root, "fast-import", "--quiet", feed=feed.encode())
    found = paths(world)
    assert len(found) == history.COMMITS_MOST
    assert found[-1] == (f"f{history.COMMITS_MOST + 4}.txt",)
