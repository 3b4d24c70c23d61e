"""The directories that checks run in: exactly one tree each, and nothing of an earlier check."""

import uuid
from pathlib import Path

import pytest

from interlock.model.task import Tree
from tests.git.world import World, git, run


def files(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() or path.is_symlink())
    return {str(p.relative_to(root)): p.read_text() for p in found if p.name != ".git"}


def room(world: World, tree: Tree) -> Path:
    home = world.root / ".git/interlock/check" / uuid.uuid4().hex
    home.mkdir(parents=True)
    return run(world.workspaces.check_out(tree, home)).path


def exactly(world: World, revision: str) -> None:
    folder = room(world, world.tree(revision))
    names = git(world.root, "ls-tree", "-r", "--name-only", revision).splitlines()
    assert files(folder) == {n: git(world.root, "cat-file", "blob", f"{revision}:{n}") + "\n" for n in names}


def test_one_tree_after_another(world: World) -> None:
    first = world.main
    second = world.made({"a.txt": "2\n", "n/new.txt": "n\n", "src/b.txt": None}, first)
    for revision in (first, second, first):
        exactly(world, revision)


def test_git_in_a_check_finds_a_repository_of_its_own(world: World) -> None:
    """Otherwise a check that calls `git clean` would do so in the user's own checkout around it."""
    folder = room(world, world.tree("HEAD"))
    assert git(folder, "rev-parse", "--show-toplevel") == str(folder)
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "rev-parse", "HEAD^{tree}") == world.tree("HEAD")
    assert git(folder, "ls-files").splitlines() == [".gitignore", "a.txt", "src/b.txt"]


def test_an_unknown_tree_is_an_error(world: World) -> None:
    with pytest.raises(Exception, match="read-tree failed"):
        room(world, Tree("12" * 20))
