"""The directory checks run in: exactly one tree, whatever the last check did to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.model.task import Tree
from tests.git.world import World, git, run, write


def files(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() or path.is_symlink())
    return {str(p.relative_to(root)): p.read_text() for p in found if p.name != ".git"}


def exactly(world: World, revision: str) -> None:
    folder = run(world.workspaces.check_out(world.tree(revision)))
    names = git(world.root, "ls-tree", "-r", "--name-only", revision).splitlines()
    assert files(folder) == {n: git(world.root, "cat-file", "blob", f"{revision}:{n}") + "\n" for n in names}


def test_one_tree_after_another(world: World) -> None:
    first = world.main
    second = world.made({"a.txt": "2\n", "n/new.txt": "n\n", "src/b.txt": None}, first)
    for revision in (first, second, first):
        exactly(world, revision)


def dirty(tree: Path) -> None:
    write(tree, {"a.txt": "changed\n", "x.log": "ignored\n", "untracked/y.txt": "y\n"})
    (tree / "src" / "b.txt").unlink()


def read_only(tree: Path) -> None:
    write(tree, {"shut/a/file": "x\n"})
    (tree / "shut" / "a").chmod(0o500)
    (tree / "src").chmod(0o500)


def nested(tree: Path) -> None:
    (tree / "inner").mkdir()
    git(tree / "inner", "init", "-q")


def own_git(tree: Path) -> None:
    (tree / ".git").unlink()
    git(tree, "init", "-q")


def used_git(tree: Path) -> None:
    git(tree, "commit", "-q", "--allow-empty", "-m", "x")
    git(tree, "config", "core.fsmonitor", "false")
    git(tree, "rm", "-q", "-r", "src")


def links(tree: Path) -> None:
    (tree / "src" / "b.txt").unlink()
    (tree / "src").rmdir()
    (tree / "src").symlink_to(tree.parent.parent.parent)


def file_for_folder(tree: Path) -> None:
    (tree / "a.txt").unlink()
    (tree / "a.txt").mkdir()
    write(tree, {"a.txt/b": "x\n"})


def gone(tree: Path) -> None:
    tree.rename(tree.with_name("away"))


def moved_by_link(tree: Path) -> None:
    tree.rename(tree.with_name("away"))
    tree.symlink_to(tree.with_name("away"))


def crashed(tree: Path) -> None:
    (tree.parent / "trusted.git" / "index.lock").touch()
    (tree / "a.txt").unlink()


def broken_index(tree: Path) -> None:
    (tree.parent / "trusted.git" / "index").write_text("garbage")


MISCHIEF = [
    dirty,
    read_only,
    nested,
    own_git,
    used_git,
    links,
    file_for_folder,
    gone,
    moved_by_link,
    crashed,
    broken_index,
]


@pytest.mark.parametrize("mischief", MISCHIEF, ids=lambda function: function.__name__)
def test_whatever_a_check_leaves_is_gone_the_next_time(
    world: World, mischief: Callable[[Path], None]
) -> None:
    exactly(world, "HEAD")
    mischief(run(world.workspaces.check_out(world.tree("HEAD"))))
    exactly(world, "HEAD")
    assert world.status() == ""


def test_git_in_a_check_finds_a_repository_of_its_own(world: World) -> None:
    """Otherwise a check that calls `git clean` would do so in the user's own checkout around it."""
    folder = run(world.workspaces.check_out(world.tree("HEAD")))
    assert git(folder, "rev-parse", "--show-toplevel") == str(folder)
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "rev-parse", "HEAD^{tree}") == world.tree("HEAD")
    assert git(folder, "ls-files").splitlines() == [".gitignore", "a.txt", "src/b.txt"]


def test_an_unknown_tree_is_an_error(world: World) -> None:
    with pytest.raises(Exception, match="read-tree failed"):
        run(world.workspaces.check_out(Tree("12" * 20)))
