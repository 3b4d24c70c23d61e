"""A checkout without an edit is known without asking git; no other is taken for one (D10)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.git.edits import is_untouched
from interlock.model.outcome import Landing, Move
from tests.git.spoilt import SPOILT
from tests.git.world import World, git, make_world, run, write


def untouched(world: World) -> bool:
    index = world.root / ".git" / "index"
    return is_untouched(world.place, world.root, index, git(world.root, "rev-parse", "main^{tree}"))


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
def test_a_fresh_checkout_is_known_to_be_clean(tmp_path: Path, options: tuple[str, ...]) -> None:
    world = make_world(tmp_path / "project", options=options)
    (world.root / "link").symlink_to("nowhere")
    write(world.root, {"run.sh": "true\n", "deep/er/still": "x\n"})
    (world.root / "run.sh").chmod(0o755)
    world.commit({"odd\n\x01name \u00fc": "x\n"})
    git(world.root, "status")  # brings the index up to date
    assert untouched(world)


def edited(root: Path) -> None:
    write(root, {"a.txt": (root / "a.txt").read_text()[::-1]})


def edited_in_secret(root: Path) -> None:
    before = (root / "a.txt").stat()
    edited(root)
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(root: Path) -> None:
    (root / "a.txt").rename(root / "elsewhere")
    write(root, {"a.txt": (root / "elsewhere").read_text()})


def staged(root: Path) -> None:
    edited(root)
    git(root, "add", "a.txt")


def staged_and_taken_back(root: Path) -> None:
    before = (root / "a.txt").read_text()
    staged(root)
    write(root, {"a.txt": before})


def forgotten(root: Path) -> None:
    git(root, "rm", "--cached", "-q", "a.txt")


def announced(root: Path) -> None:
    write(root, {"new.txt": "x\n"})
    git(root, "add", "-N", "new.txt")


def deleted(root: Path) -> None:
    (root / "a.txt").unlink()


def made_to_run(root: Path) -> None:
    (root / "a.txt").chmod(0o755)


def taken_for_unchanged(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "a.txt")


def not_wanted(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "a.txt")


def kept_in_two_files(root: Path) -> None:
    git(root, "update-index", "--split-index")


EDITS = [
    edited,
    edited_in_secret,
    replaced,
    staged,
    staged_and_taken_back,
    forgotten,
    announced,
    deleted,
    made_to_run,
    taken_for_unchanged,
    not_wanted,
    kept_in_two_files,
    *SPOILT,
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda function: function.__name__)
def test_anything_else_is_a_question_for_git(world: World, edit: Callable[[Path], None]) -> None:
    git(world.root, "status")
    assert untouched(world)
    edit(world.root)
    assert not untouched(world)


def test_a_checkout_that_followed_a_landing_is_known_to_be_clean(world: World) -> None:
    """So that the next landing need not ask."""
    git(world.root, "status")  # brings the index up to date
    base = world.main
    made = world.made({"src/new.txt": "x\n"}, base)
    assert run(world.repository.land(Landing("main", made, base, 1))) is Move.MOVED
    assert untouched(world)
