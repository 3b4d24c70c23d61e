"""The tree that a check with inputs sees: the same files give the same tree, and no others are in it."""

import pytest

from interlock.git.reduced import ReducedTrees
from interlock.model.task import Tree
from tests.git.world import World, git, run

FILES = ("one/a.py", "one/deep/b.py", "two/c.py", "two/d.txt", "top.py")


def files_of(world: World, tree: str) -> set[str]:
    return set(git(world.root, "ls-tree", "-r", "--name-only", tree).splitlines())


def committed(world: World, **more: str) -> Tree:
    for name in FILES:
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(more.get(name.rpartition("/")[2].partition(".")[0], name))
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", "files")
    return Tree(git(world.root, "rev-parse", "HEAD^{tree}"))


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (("one/**",), {"one/a.py", "one/deep/b.py"}),
        (("one/*",), {"one/a.py"}),
        (("two",), {"two/c.py", "two/d.txt"}),
        (("**/*.py",), {"one/a.py", "one/deep/b.py", "two/c.py", "top.py"}),
        (("*.py", "two/d.txt"), {"top.py", "two/d.txt"}),
        (("nothing",), set()),
    ],
)
def test_it_has_exactly_the_files_that_match(
    world: World, inputs: tuple[str, ...], expected: set[str]
) -> None:
    tree = committed(world)
    assert files_of(world, run(ReducedTrees(world.place).tree(tree, inputs))) == expected


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        (("one/deep/**",), {".gitattributes", "one/.gitattributes"}),
        (("top.py",), {".gitattributes"}),
        (("nothing",), set[str]()),
    ],
)
def test_it_has_the_attributes_of_the_folders_on_the_way(
    world: World, inputs: tuple[str, ...], attributes: set[str]
) -> None:
    (world.root / "one").mkdir()
    (world.root / "two").mkdir()
    for name in (".gitattributes", "one/.gitattributes", "two/.gitattributes"):
        (world.root / name).write_text("*.py text eol=crlf\n")
    found = files_of(world, run(ReducedTrees(world.place).tree(committed(world), inputs)))
    assert {name for name in found if name.endswith(".gitattributes")} == attributes


def test_a_change_elsewhere_gives_the_same_tree(world: World) -> None:
    before, elsewhere, inside = committed(world), committed(world, c="new"), committed(world, b="new")
    trees = ReducedTrees(world.place)

    async def reduce() -> list[Tree]:
        return [await trees.tree(tree, ("one/**", "*.py")) for tree in (before, elsewhere, inside)]

    first, same, other = run(reduce())
    assert first == same != other


def test_modes_and_links_stay_and_git_finds_no_fault(world: World) -> None:
    committed(world)
    (world.root / "one/run").write_text("#!/bin/sh\n")
    (world.root / "one/run").chmod(0o755)
    (world.root / "one/link").symlink_to("../two/c.py")
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", "kinds")
    tree = Tree(git(world.root, "rev-parse", "HEAD^{tree}"))
    reduced = run(ReducedTrees(world.place).tree(tree, ("one/*",)))
    listed = git(world.root, "ls-tree", "-r", reduced).splitlines()
    assert {(line.split()[0], line.split("\t")[1]) for line in listed} == {
        ("100644", "one/a.py"),
        ("120000", "one/link"),
        ("100755", "one/run"),
    }
    assert "error" not in git(world.root, "fsck", "--strict", "--no-dangling")


def test_without_inputs_it_is_the_tree_itself(world: World) -> None:
    tree = committed(world)
    assert run(ReducedTrees(world.place).tree(tree, ())) == tree
