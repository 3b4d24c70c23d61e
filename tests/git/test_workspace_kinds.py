"""Workspaces of large, odd, bare, linked and shallow repositories, and of users with own settings."""

from pathlib import Path

import pytest

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.errors import EnvironmentProblem
from interlock.model.task import Commit
from tests.git.agents import TASK, collected, committed, names, opened
from tests.git.world import World, git, make_world, run, write


@pytest.mark.slow
def test_a_thousand_files(world: World) -> None:
    world.commit({f"many/{n // 50}/{n}.txt": f"{n}\n" for n in range(1000)})
    workspace = opened(world)
    write(workspace.path, {f"made/{n}.txt": f"{n * n}\n" for n in range(300)})
    result = collected(world, workspace)
    assert len(result.touched) == 300
    assert len(names(world, result.commit)) == 1303
    git(world.root, "fsck", "--strict", "--connectivity-only")


@pytest.mark.slow
def test_paths_with_spaces_and_unicode(tmp_path: Path) -> None:
    world = make_world(tmp_path / 'mein: projekt ü "项目"')
    workspace = opened(world)
    tip = committed(workspace, {"grüße/ü.txt": "x\n"})
    result = collected(world, workspace)
    assert (result.commit, result.touched) == (tip, ("grüße/ü.txt",))


@pytest.mark.slow
def test_a_repository_with_sha256(tmp_path: Path) -> None:
    world = make_world(tmp_path / "long", options=("--object-format=sha256",))
    workspace = opened(world)
    tip = committed(workspace, {"x.txt": "x\n"})
    write(workspace.path, {"y.txt": "y\n"})
    result = collected(world, workspace)
    assert len(result.commit) == 64
    assert git(world.root, "rev-parse", f"{result.commit}^") == tip
    run(world.repository.raise_fence(1))
    room = run(world.workspaces.check_out(world.tree(result.commit), tmp_path / "room"))
    assert (room.path / "y.txt").exists()


@pytest.mark.slow
def test_a_shallow_clone(world: World, tmp_path: Path) -> None:
    for n in range(3):
        world.commit({"a.txt": f"{n}\n"})
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{world.root}", "shallow")
    shallow = World(tmp_path / "shallow")
    workspace = opened(shallow)
    assert git(workspace.path, "log", "--oneline").count("\n") == 0
    write(workspace.path, {"x.txt": "x\n"})
    result = collected(shallow, workspace)
    assert result.touched == ("x.txt",)
    assert run(shallow.repository.merge(shallow.main, result.commit, shallow.main)).tree


@pytest.mark.slow
def test_a_linked_worktree_and_a_bare_repository_can_have_workspaces(world: World, tmp_path: Path) -> None:
    git(world.root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    git(tmp_path, "clone", "-q", "--bare", str(world.root), "bare.git")
    for root in (tmp_path / "linked", tmp_path / "bare.git"):
        workspaces = GitWorkspaces(run(discover(root)))
        workspace = run(workspaces.open(TASK, 1, world.main))
        write(workspace.path, {"x.txt": "x\n"})
        assert run(workspaces.collect(workspace, "x\n")).changed


def test_line_endings_of_the_user_are_kept(world: World) -> None:
    git(world.root, "config", "core.autocrlf", "true")
    workspace = opened(World(world.root))
    assert (workspace.path / "a.txt").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert not collected(World(world.root), workspace).changed


def test_what_the_user_ignores_everywhere_is_not_collected(world: World, nobodys_configuration: Path) -> None:
    write(nobodys_configuration, {".config/git/ignore": "*.swp\n"})
    workspace = opened(world)
    write(workspace.path, {"x.swp": "editor\n", "y.log": "ignored by the project\n"})
    assert not collected(world, workspace).changed


def test_a_copy_follows_no_link_out_of_the_workspace(world: World, tmp_path: Path) -> None:
    """The checkout has a folder where a commit that an agent made has a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    base = world.commit({".worktreeinclude": "build/*\n", ".gitignore": "build/\n"})
    (world.root / "build").mkdir()
    (world.root / "build" / "x.o").write_text("mine")
    blob = git(world.root, "hash-object", "-w", "--stdin", feed=str(outside).encode())
    listing = f"{git(world.root, 'ls-tree', base)}\n120000 blob {blob}\tbuild\n"
    tree = git(world.root, "mktree", feed=listing.encode())
    linked = git(world.root, "commit-tree", "-p", base, "-m", "x", tree)
    workspace = run(world.workspaces.open(TASK, 1, Commit(linked)))
    assert (workspace.path / "build").is_symlink()
    assert list(outside.iterdir()) == []


def test_files_named_in_worktreeinclude_are_copied_in(world: World) -> None:
    world.commit({".worktreeinclude": "*.log\n/build/*.o\n!no.log\n"})
    write(world.root, {"db.log": "settings\n", "no.log": "n\n", "build/x.o": "o\n", "build/y.c": "c\n"})
    workspace = opened(world)
    found = {str(path.relative_to(workspace.path)) for path in workspace.path.rglob("*") if path.is_file()}
    assert found >= {"db.log", "build/x.o"}
    assert not found & {"no.log", "build/y.c"}
    assert not collected(world, workspace).changed
    workspaces = world.workspaces
    run(workspaces.discard(workspace))
    assert run(workspaces.find(TASK, 1)) is None
    assert workspaces.listing() == []


def test_a_base_that_does_not_exist_is_an_error_with_a_reason(world: World) -> None:
    with pytest.raises(EnvironmentProblem, match="failed"):
        run(world.workspaces.open(TASK, 1, Commit("12" * 20)))
