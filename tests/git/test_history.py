"""What was changed together is read from the commits of the branch, and later only what is new (D3)."""

from pathlib import Path

import pytest

from interlock.git import history
from interlock.git.history import read_changes
from interlock.model.history import PastCommit
from tests.git.world import World, git, run

pytestmark = pytest.mark.slow


def changes(world: World) -> list[PastCommit]:
    return list(run(read_changes(world.place.git, world.place.ref, cache(world))))


def cache(world: World) -> Path:
    world.place.state.mkdir(exist_ok=True)
    return world.place.state / "history.json"


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


def test_a_file_goes_by_the_name_it_has_today_also_in_what_was_read_before(world: World) -> None:
    world.commit({"old.py": "a long line that is not to be mistaken\n" * 5, "with.py": "1\n"})
    assert paths(world) == [("old.py", "with.py")]
    git(world.root, "mv", "old.py", "new.py")
    world.commit({"with.py": "2\n"})
    git(world.root, "mv", "new.py", "newest.py")
    world.commit({})
    assert paths(world) == [("newest.py", "with.py"), ("newest.py", "with.py"), ("newest.py",)]
    cache(world).unlink()
    assert paths(world) == [("newest.py", "with.py"), ("newest.py", "with.py"), ("newest.py",)]


def test_a_commit_of_very_many_files_is_left_out_but_what_it_renamed_is_known(world: World) -> None:
    many = {f"lib/{number}.txt": f"number {number}\n" * 3 for number in range(history.FILES_MOST + 1)}
    world.commit({"alone.txt": "1"})
    world.commit(many)
    world.commit({"lib/7.txt": "changed\n"})
    git(world.root, "mv", "lib", "library")
    world.commit({})
    assert paths(world) == [("alone.txt",), ("library/7.txt",)]


def test_only_what_is_new_is_asked_of_git(world: World) -> None:
    world.commit({"one.txt": "1"})
    first = changes(world)
    # What the file says is believed: a change that it does not have must come from git.
    cache(world).write_text(cache(world).read_text().replace("one.txt", "remembered.txt"))
    world.commit({"two.txt": "2"})
    assert paths(world) == [("remembered.txt",), ("two.txt",)]
    assert len(first) == 1


def test_a_branch_that_was_rewritten_is_read_anew(world: World) -> None:
    world.commit({"one.txt": "1"})
    assert paths(world) == [("one.txt",)]
    git(world.root, "reset", "-q", "--hard", "HEAD~1")
    world.commit({"other.txt": "2"})
    assert paths(world) == [("other.txt",)]


@pytest.mark.parametrize("text", ["", "{", '{"version": 99}', "[1]"])
def test_a_damaged_file_is_as_good_as_none(world: World, text: str) -> None:
    world.commit({"one.txt": "1"})
    cache(world).write_text(text)
    assert paths(world) == [("one.txt",)]


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
