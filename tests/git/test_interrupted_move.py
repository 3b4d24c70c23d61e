"""A move of main that was interrupted is finished by the next look, whatever a crash or a power cut left."""

import json
import subprocess

import pytest

from interlock.git.branch import finish_move
from interlock.git.index_lock import IndexLock
from interlock.model.outcome import Landing, Move
from interlock.model.task import Commit
from tests.git.world import World, git, run, write

pytestmark = pytest.mark.crash

OLD = {"a.txt": "old\n" * 9, "gone.txt": "gone\n", "dir/file": "x\n", "same.txt": "same\n", "mine.txt": "m\n"}
NEW: dict[str, str | None] = {
    "a.txt": "new\n" * 2000,
    "gone.txt": None,
    "dir/file": None,
    "dir": "now a file\n",
    "n/n.txt": "n\n" * 999,
}


@pytest.fixture
def moved(world: World) -> tuple[World, Commit, Commit]:
    """Main has moved and the journal says so; the checkout is where it was."""
    old = world.commit(dict(OLD))
    new = world.made(dict(NEW), old)
    write(world.root, {"mine.txt": "edited by a person\n"})
    git(world.root, "update-ref", "refs/heads/main", new, old)
    world.place.ensure_state()
    journal = {"branch": "main", "old": old, "new": new, "trees": [str(world.root)]}
    (world.place.state / "checkout.json").write_text(json.dumps(journal))
    return world, old, new


def assert_followed(world: World) -> None:
    assert run(world.repository.settle()) == ""
    assert world.status() == "M mine.txt"
    assert (world.root / "mine.txt").read_text() == "edited by a person\n"
    for name, text in NEW.items():
        path = world.root / name
        assert (path.read_text() if path.is_file() else None) == text, name
    assert not (world.place.state / "checkout.json").exists()
    assert not list((world.root / ".git").glob("*.lock"))


LEFT: dict[str, dict[str, str | None]] = {
    "nothing was written": {},
    "half of the files": {"gone.txt": None, "n/n.txt": "n\n" * 999},
    "a file that was being written": {"a.txt": "new\n" * 1023, "gone.txt": None},
    "files without their data": {"a.txt": "", "n/n.txt": "", "gone.txt": None},
    "blocks that were never written": {"a.txt": "new\n" * 1024 + "\0" * 3904},
    "all files": {name: text for name, text in NEW.items() if not name.startswith("dir")},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "index"),
    [
        *((left, "old") for left in LEFT),
        ("files without their data", "new"),
        ("nothing was written", "new"),
        ("blocks that were never written", "empty"),
        ("half of the files", "cut"),
    ],
)
def test_whatever_was_left_half_way_is_finished(
    moved: tuple[World, Commit, Commit], left: str, index: str
) -> None:
    """`read-tree` was killed, or a power cut lost what was not on the disk yet."""
    world, _, new = moved
    for name, text in LEFT[left].items():
        path = world.root / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if index == "new":
        git(world.root, "read-tree", new)
    elif index != "old":
        file = world.root / ".git/index"
        file.write_bytes(file.read_bytes()[: 0 if index == "empty" else 100])
    assert IndexLock(world.root / ".git", world.place.state).take()
    assert_followed(world)


def test_what_git_left_when_it_was_killed_is_no_obstacle(moved: tuple[World, Commit, Commit]) -> None:
    world, _, new = moved
    common = world.root / ".git"
    (common / "index.interlock").write_bytes(b"half")
    (common / "index.interlock.lock").write_bytes(b"half")
    (common / "refs/heads/main.lock").write_text(f"{new}\n")
    (common / "HEAD.lock").touch()
    assert_followed(world)


def test_the_lock_of_a_person_is_left_alone_and_named(moved: tuple[World, Commit, Commit]) -> None:
    world, _, _ = moved
    lock = world.root / ".git/index.lock"
    lock.touch()
    assert f"another git process holds {lock}" in run(world.repository.settle())
    assert lock.exists()
    lock.unlink()
    assert_followed(world)


def test_a_lock_of_ours_without_a_journal_holds_nothing_up(world: World) -> None:
    """A run was killed after it had cleared the journal and before it gave the lock back."""
    old = world.main
    assert IndexLock(world.root / ".git", world.place.state).take()
    assert (
        run(world.repository.land(Landing("main", world.made({"a.txt": "x\n"}, old), old, 1))) is Move.MOVED
    )
    assert world.status() == ""


def test_a_ref_lock_of_a_person_is_left_alone(moved: tuple[World, Commit, Commit]) -> None:
    world, old, _ = moved
    lock = world.root / ".git/refs/heads/main.lock"
    lock.write_text(f"{old}\n")
    assert run(world.repository.settle()) == ""
    assert lock.exists()


@pytest.mark.parametrize("staged", [False, True])
def test_the_hint_for_an_edit_made_after_the_crash_loses_nothing(
    moved: tuple[World, Commit, Commit], staged: bool
) -> None:
    """What landed and what the person wrote are both there when the person has done as told."""
    world, _, new = moved
    write(world.root, {"a.txt": "mine\n" + OLD["a.txt"]})
    if staged:
        git(world.root, "add", "a.txt")
    said = run(world.repository.settle())
    assert "your edits conflict" in said
    assert (world.root / "a.txt").read_text() == "mine\n" + OLD["a.txt"]
    assert (world.root / "n/n.txt").read_text() == NEW["n/n.txt"]  # everything else has followed
    again = world.made({"z.txt": "z\n"}, new)
    landing = Landing("main", again, new, 1)
    assert run(world.repository.land(landing)) is Move.HELD
    assert run(world.repository.obstacle(landing)) == said
    if not staged:  # a commit of other files does not take back what landed
        assert "a.txt" not in git(world.root, "diff", "--cached", "--name-only")
    (world.root / "a.txt").write_text("mine\n" + str(NEW["a.txt"]))
    git(world.root, "add", "a.txt")
    assert run(world.repository.settle()) == ""
    assert run(world.repository.land(landing)) is Move.MOVED


def test_an_edit_that_is_given_up_ends_the_wait(moved: tuple[World, Commit, Commit]) -> None:
    world, _, _ = moved
    write(world.root, {"a.txt": "mine\n"})
    assert "your edits conflict" in run(world.repository.settle())
    git(world.root, "checkout", "main", "--", "a.txt")
    assert_followed(world)


def test_a_person_who_went_to_another_branch_takes_nothing_back_there(
    moved: tuple[World, Commit, Commit],
) -> None:
    world, _, _ = moved
    git(world.root, "switch", "-q", "-c", "mine")
    assert_followed(world)


def test_a_commit_that_takes_back_what_landed_is_named(moved: tuple[World, Commit, Commit]) -> None:
    world, _, new = moved
    git(world.root, "commit", "-qam", "as I was told")
    said = run(finish_move(world.place))
    assert f"reverts what landed as {new[:12]}" in said
    command = said.split("restore it: ")[1].splitlines()[0]
    subprocess.run(command, shell=True, cwd=world.root, check=True)  # noqa: S602 - as a person pastes it
    assert git(world.root, "diff", "--name-only", new, "main") == "mine.txt"
    assert world.status() == ""
    assert run(finish_move(world.place)) == ""


def test_many_files_that_a_commit_takes_back_are_all_brought_back(world: World) -> None:
    """Also on a branch of the person's, from where a merge would take them back on main."""
    files: dict[str, str | None] = {f"file {number}*.txt": "x\n" for number in range(9)}
    old = world.main
    new = world.made(files, old)
    git(world.root, "update-ref", "refs/heads/main", new, old)
    world.place.ensure_state()
    journal = {"branch": "main", "old": old, "new": new, "trees": [str(world.root)]}
    (world.place.state / "checkout.json").write_text(json.dumps(journal))
    git(world.root, "symbolic-ref", "HEAD", "refs/heads/mine")
    git(world.root, "update-ref", "refs/heads/mine", new)
    git(world.root, "commit", "-qm", "wip")
    said = run(finish_move(world.place))
    assert f"in {world.root} reverts what landed as {new[:12]}" in said
    assert "and 4 more" in said
    subprocess.run(said.split("restore it: ")[1].splitlines()[0], shell=True, cwd=world.root, check=True)  # noqa: S602 - as above
    assert git(world.root, "diff", "--name-only", new, "mine") == ""
    assert run(finish_move(world.place)) == ""
    assert not (world.place.state / "taken_back").exists()


def test_a_person_who_moved_main_back_is_left_alone(moved: tuple[World, Commit, Commit]) -> None:
    world, old, _ = moved
    git(world.root, "reset", "-q", "--hard", old)
    assert run(world.repository.settle()) == ""
    assert (world.main, world.status()) == (old, "")


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"branch": "main"}',
    b'{"branch": 1, "old": [], "new": {}}',
    b'{"branch": "main", "old": "--x", "new": "HEAD"}',
    b"[" * 9999,
]


def test_a_damaged_journal_is_put_aside_and_said(world: World) -> None:
    world.place.ensure_state()
    for content in DAMAGED:
        (world.place.state / "checkout.json").write_bytes(content)
        assert "was damaged" in run(world.repository.settle())
        assert (world.place.state / "checkout.damaged").read_bytes() == content
        assert run(world.repository.settle()) == ""


def test_content_that_filters_change_is_compared_as_git_does(world: World) -> None:
    git(world.root, "config", "core.autocrlf", "true")
    old = world.commit({"a.txt": "one\n"})
    (world.root / "a.txt").unlink()
    git(world.root, "checkout", "--", "a.txt")
    assert (world.root / "a.txt").read_bytes() == b"one\r\n"
    new = world.made({"a.txt": "two\n" * 99}, old)
    git(world.root, "update-ref", "refs/heads/main", new, old)
    world.place.ensure_state()
    (world.place.state / "checkout.json").write_text(json.dumps({"branch": "main", "old": old, "new": new}))
    (world.root / "a.txt").write_bytes(b"two\r\n" * 40)
    assert run(world.repository.settle()) == ""
    assert (world.root / "a.txt").read_bytes() == b"two\r\n" * 99
    assert world.status() == ""
