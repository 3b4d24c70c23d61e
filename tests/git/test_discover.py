"""What is wrong with a repository is said before anything starts, with the next command."""

import os
import stat
from pathlib import Path

import pytest

from interlock.git.discover import discover, parse_version
from interlock.model.errors import EnvironmentProblem
from tests.git.world import World, git, make_world, run


def problem(path: Path, branch: str = "") -> EnvironmentProblem:
    with pytest.raises(EnvironmentProblem) as caught:
        run(discover(path, branch))
    return caught.value


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    found = problem(tmp_path)
    assert "not in a git repository" in str(found)
    assert found.hint == "git init"


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    found = problem(tmp_path)
    assert "no commits yet" in str(found)
    assert found.hint == "git commit --allow-empty -m start"


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    assert "not a folder" in str(problem(tmp_path / "nothing"))


def test_git_is_missing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(world.root))
    assert "not installed" in str(problem(world.root))


@pytest.mark.parametrize("said", ["git version 2.37.9", "git version 1.8.3.1"])
def test_an_old_git_is_refused(said: str) -> None:
    with pytest.raises(EnvironmentProblem, match="too old") as caught:
        parse_version(said)
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("git version 2.38.0", (2, 38)),
        ("git version 2.39.5 (Apple Git-154)", (2, 39)),
        ("git version 2.47.0.windows.1", (2, 47)),
        ("git version 3.0.rc1", (3, 0)),
    ],
)
def test_versions_are_read(said: str, number: tuple[int, int]) -> None:
    assert parse_version(said) == number


def test_main_is_protected_even_from_another_branch(world: World) -> None:
    git(world.root, "switch", "-q", "-c", "feature")
    assert (world.place.branch, world.place.head) == ("main", "feature")


def test_master_is_protected_when_it_is_checked_out(world: World) -> None:
    git(world.root, "switch", "-q", "-c", "master")
    assert world.place.branch == "master"


def test_the_usual_branch_of_the_user_comes_before_the_one_checked_out(world: World) -> None:
    git(world.root, "branch", "-m", "main", "trunk")
    git(world.root, "config", "init.defaultBranch", "trunk")
    git(world.root, "switch", "-q", "-c", "feature")
    assert world.place.branch == "trunk"


def test_an_only_branch_of_any_name_is_protected(world: World) -> None:
    git(world.root, "branch", "-m", "main", "stem")
    assert world.place.branch == "stem"


def test_a_detached_head_protects_main(world: World) -> None:
    git(world.root, "switch", "-q", "--detach")
    assert (world.place.branch, world.place.head) == ("main", "")


def test_a_detached_head_without_main_is_a_question(world: World) -> None:
    git(world.root, "switch", "-q", "--detach")
    git(world.root, "branch", "-m", "main", "stem")
    assert "detached" in str(problem(world.root))


def test_the_branch_can_be_named(world: World) -> None:
    git(world.root, "branch", "release/1.0")
    assert run(discover(world.root, "release/1.0")).branch == "release/1.0"
    assert "no branch 'nope'" in str(problem(world.root, "nope"))
    assert "cannot be the name" in str(problem(world.root, "a b"))


def test_a_branch_that_looks_like_an_option(world: World) -> None:
    git(world.root, "update-ref", "refs/heads/-x", "HEAD")
    assert run(discover(world.root, "-x")).ref == "refs/heads/-x"


def test_a_bare_repository(tmp_path: Path, world: World) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(world.root), "bare.git")
    place = run(discover(tmp_path / "bare.git"))
    assert place.work_tree is None
    assert place.state == tmp_path / "bare.git" / "interlock"


def test_linked_worktrees_share_one_state_folder(tmp_path: Path, world: World) -> None:
    """T2: two checkouts of a repository cannot disagree."""
    git(world.root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = run(discover(tmp_path / "linked"))
    assert linked.state == world.place.state == world.root / ".git/interlock"
    assert linked.work_tree == tmp_path / "linked"


def test_spaces_and_unicode_in_the_path(tmp_path: Path) -> None:
    world = make_world(tmp_path / "mein projekt ü 项目")
    (world.root / "sub dir").mkdir()
    assert run(discover(world.root / "sub dir")).work_tree == world.root


def test_a_path_that_other_programs_cannot_use_is_refused_at_once(tmp_path: Path) -> None:
    """Each task failed with a UnicodeEncodeError, and the log could not be opened "as its folder"."""
    odd, long = tmp_path / os.fsdecode(b"\xff"), tmp_path / ("d" * 200) / ("d" * 200)
    for folder in (odd, long):
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
    assert str(problem(odd)).endswith("is not UTF-8")
    assert "is longer than 400 bytes" in str(problem(long))


def test_the_state_folder_is_out_of_the_work_tree(world: World) -> None:
    assert world.place.ensure_state() is None
    (world.root / ".git/interlock" / "x").touch()
    assert stat.S_IMODE(world.place.state.stat().st_mode) == 0o700
    git(world.root, "clean", "-ffdxq")
    assert (world.root / ".git/interlock" / "x").exists()
    assert world.status() == ""


def test_the_state_folder_of_an_older_version_is_moved_once(world: World) -> None:
    former = world.root / ".interlock"
    (former / "logs").mkdir(parents=True)
    (former / "lineage").write_text("shop-1")
    assert world.place.ensure_state() == former
    assert not former.exists()
    assert (world.place.state / "lineage").read_text() == "shop-1"
    assert (world.place.state / "logs").is_dir()
    assert world.place.ensure_state() is None


def test_remotes_are_known_without_passwords_and_without_paths_of_this_machine(world: World) -> None:
    for name, url in (
        ("origin", "https://me:secret@example.invalid/shop/shop.git"),
        ("mirror", "git@example.invalid:shop/shop.git"),
        ("disk", str(world.root)),
    ):
        git(world.root, "remote", "add", name, url)
    place = run(discover(world.root))
    assert place.remotes == {
        "remote.origin.url": "https://example.invalid/shop/shop.git",
        "remote.mirror.url": "git@example.invalid:shop/shop.git",
    }
    assert "secret" not in repr(place)


def test_the_author_is_the_user_and_no_secret_is_read(world: World) -> None:
    git(world.root, "config", "http.extraHeader", "Authorization: secret")
    assert world.place.author == ("Ada", "ada@example.invalid")
    assert "secret" not in repr(world.place)
