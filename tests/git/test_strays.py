"""A folder of nothing but tracked files is known without asking git; no other is taken for one (D10)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.git.strays import holds_just
from tests.git.spoilt import SPOILT
from tests.git.world import World, git, make_world, write


def just(world: World) -> bool:
    return holds_just(world.root, world.root / ".git" / "index", world.place.id_bytes)


def bare(world: World) -> World:
    """Without Interlock's own folder, which the index does not name."""
    (world.root / ".git/interlock").rmdir()
    return world


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
def test_tracked_files_of_all_kinds_and_lengths_are_expected(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    world = make_world(tmp_path / "project", options=options)
    names = [f"{'d' * depth}/{'n' * (depth * 7 % 60 + 1)}" for depth in range(1, 40)]
    write(world.root, {**dict.fromkeys(names, "x\n"), "long/" + "/".join(["p" * 200] * 19): "x\n"})
    (world.root / "link").symlink_to("nowhere")
    world.commit({"odd\n\x01name \u00fc": "x\n"})
    write(world.root, {"meant": "x\n"})
    git(world.root, "add", "-N", "meant")  # this makes it an index with longer entries
    (world.root / ".git/interlock").rmdir()
    assert just(world)


def extra_file(root: Path) -> None:
    write(root, {"src/new.txt": "x\n"})


def ignored_file(root: Path) -> None:
    write(root, {"x.log": "x\n"})


def empty_folder(root: Path) -> None:
    (root / "src" / "empty").mkdir()


def nested_repository(root: Path) -> None:
    (root / "src" / ".git").mkdir()
    write(root, {"src/.git/HEAD": "ref: refs/heads/main\n"})


def nested_pointer(root: Path) -> None:
    write(root, {"src/.git": "gitdir: elsewhere\n"})


def folder_for_file(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()


def submodule(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    (root / "module").mkdir()


def many_files(root: Path) -> None:
    write(root, {f"{'many' * 40}{number}.txt": "x\n" for number in range(400)})
    git(root, "add", "-A")


STRAYS = [
    extra_file,
    ignored_file,
    empty_folder,
    nested_repository,
    nested_pointer,
    folder_for_file,
    submodule,
    many_files,
    *SPOILT,
]


@pytest.mark.parametrize("stray", STRAYS, ids=lambda function: function.__name__)
def test_anything_else_is_a_question_for_git(world: World, stray: Callable[[Path], None]) -> None:
    assert just(bare(world))
    stray(world.root)
    assert not just(world)
