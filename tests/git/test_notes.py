"""Notes below one ref: several writers, other notes, and the forms in which git keeps them (D16)."""

import asyncio
from pathlib import Path

import pytest

from interlock.git.errors import GitFailed
from interlock.git.notes import REF, noted, read_notes, write_notes
from interlock.model.task import Commit
from tests.git.world import World, git, run


def commits(world: World, count: int) -> list[Commit]:
    return [world.commit({f"{number}.txt": "x"}, f"commit {number}") for number in range(count)]


@pytest.fixture(autouse=True)
def state(world: World) -> Path:
    world.place.ensure_state()
    return world.place.state


def test_of_several_writers_at_once_none_loses_a_note(world: World) -> None:
    made = commits(world, 4)
    place = world.place

    async def write_all() -> None:
        await asyncio.gather(*(write_notes(place, {commit: commit.encode()}, "note") for commit in made))

    run(write_all())
    found = run(read_notes(place.git, made))
    assert found == {commit: commit.encode() for commit in made}
    assert git(world.root, "rev-list", "--count", REF) == "4"
    for commit in made:
        assert git(world.root, "notes", "--ref=interlock", "show", commit) == commit


@pytest.mark.parametrize("path", ["{0}", "{0:.2}/{1}", "{0:.2}/{1:.2}/{2}"])
def test_a_note_is_found_and_replaced_wherever_git_keeps_it(world: World, path: str) -> None:
    commit = world.main
    git(world.root, "update-ref", REF, with_note(world, path.format(commit, commit[2:], commit[4:])))
    assert run(read_notes(world.place.git, [commit])) == {commit: b"old"}
    run(write_notes(world.place, {commit: b"new"}, "note"))
    assert run(read_notes(world.place.git, [commit])) == {commit: b"new"}
    assert git(world.root, "notes", "--ref=interlock", "show", commit) == "new"


def with_note(world: World, path: str) -> str:
    """A commit of one note at this path, without git's own rules about where a note is."""
    made = ("100644", "blob", git(world.root, "hash-object", "-w", "--stdin", feed=b"old"))
    for name in reversed(path.split("/")):
        mode, kind, id = made
        made = ("040000", "tree", git(world.root, "mktree", feed=f"{mode} {kind} {id}\t{name}\n".encode()))
    return git(world.root, "commit-tree", made[2], "-m", "notes")


def test_notes_of_people_stay(world: World) -> None:
    git(world.root, "notes", "add", "-m", "mine", "HEAD")
    mine = git(world.root, "rev-parse", "refs/notes/commits")
    run(write_notes(world.place, {world.main: b"ours"}, "note"))
    assert git(world.root, "rev-parse", "refs/notes/commits") == mine
    assert set(run(noted(world.place.git))) == {world.main}


def test_a_ref_that_is_no_commit_is_left_as_it_is(world: World) -> None:
    blob = git(world.root, "hash-object", "-w", "--stdin", feed=b"x")
    git(world.root, "update-ref", REF, blob)
    with pytest.raises(GitFailed, match="not a commit"):
        run(write_notes(world.place, {world.main: b"new"}, "note"))
    assert git(world.root, "rev-parse", REF) == blob


def test_a_lock_that_stays_is_an_error_that_names_it(world: World) -> None:
    lock = world.place.common_dir / f"{REF}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(GitFailed, match=r"interlock\.lock"):
        run(write_notes(world.place, {world.main: b"new"}, "note"))
