"""`interlock workspace new|list|remove`, with real git and main checked out as a person has it (T1)."""

import shutil
from pathlib import Path

import pytest

from tests.ui.conftest import Lab, git

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(lab: Lab) -> Lab:
    """A repository with one commit, checked out."""
    (lab.root / "app.py").write_text("print(1)\n")
    (lab.root / ".gitignore").write_text("*.log\n")
    git(lab.root, "add", "-A")
    git(lab.root, "commit", "-m", "start")
    git(lab.root, "config", "user.name", "Ada")
    git(lab.root, "config", "user.email", "ada@example.org")
    return lab


def made(lab: Lab, name: str, *words: str) -> Path:
    result = lab.run("workspace", "new", name, *words, "--json")
    assert result.code == 0, result.err
    return Path(result.json["path"])


def test_a_new_workspace_is_a_worktree_on_a_branch_of_its_own_from_main(shop: Lab) -> None:
    result = shop.run("workspace", "new", "try-it")
    path = shop.root.parent / f"{shop.root.name}-workspaces" / "try-it"
    assert f"next: cd {path}" in result.out
    assert git(path, "branch", "--show-current") == "interlock/try-it"
    assert git(path, "rev-parse", "HEAD") == git(shop.root, "rev-parse", "main")
    assert git(shop.root, "status", "--porcelain") == ""
    assert git(shop.root, "branch", "--show-current") == "main"


def test_it_may_begin_from_any_commit(shop: Lab) -> None:
    first = git(shop.root, "rev-parse", "HEAD~0")
    git(shop.root, "commit", "--allow-empty", "-m", "second")
    path = made(shop, "old", "--from", first)
    assert git(path, "rev-parse", "HEAD") == first
    refused = shop.run("workspace", "new", "none", "--from", "no-such-ref")
    assert (refused.code, "`no-such-ref` is not a commit" in refused.err) == (2, True)


def test_main_is_fetched_first(shop: Lab, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "clone", "--bare", str(shop.root), str(remote))
    git(shop.root, "remote", "add", "origin", str(remote))
    git(shop.root, "fetch", "origin")
    git(shop.root, "branch", "--set-upstream-to", "origin/main", "main")
    git(tmp_path, "clone", str(remote), str(tmp_path / "other"))
    git(tmp_path / "other", "commit", "--allow-empty", "-m", "upstream moved")
    git(tmp_path / "other", "push", "origin", "HEAD:main")
    path = made(shop, "fresh")
    assert git(path, "log", "-1", "--format=%s") == "upstream moved"


def test_the_list_says_what_each_holds(shop: Lab) -> None:
    made(shop, "clean")
    busy = made(shop, "busy")
    (busy / "new.py").write_text("x = 1\n")
    (busy / "noise.log").write_text("ignored\n")
    git(busy, "commit", "--allow-empty", "-m", "one")
    rows = {row["name"]: row for row in shop.run("workspace", "list", "--json").json["workspaces"]}
    assert (rows["clean"]["uncommitted"], rows["clean"]["unmerged"]) == ([], 0)
    assert (rows["busy"]["uncommitted"], rows["busy"]["unmerged"]) == (["new.py"], 1)
    assert rows["busy"]["size_bytes"] > 0
    out = shop.run("workspace", "list").out
    assert "1 uncommitted file and 1 unmerged commit" in out
    assert out.index("busy") < out.index("clean")


def test_a_workspace_with_unsaved_work_is_not_removed(shop: Lab) -> None:
    path = made(shop, "busy")
    (path / "new.py").write_text("x = 1\n")
    refused = shop.run("workspace", "remove", "busy")
    assert refused.code == 7
    assert "workspace busy holds 1 uncommitted file" in refused.err
    assert "--archive" in refused.err
    assert (path / "new.py").exists()


def test_an_edit_that_git_overlooks_and_a_repository_inside_are_not_lost(shop: Lab) -> None:
    path = made(shop, "busy")
    git(path, "update-index", "--skip-worktree", "app.py")
    assert shop.run("workspace", "list", "--json").json["workspaces"][0]["uncommitted"] == []
    (path / "app.py").write_text("print(2)\n")
    assert "holds 1 uncommitted file" in shop.run("workspace", "remove", "busy").err
    (path / "lib").mkdir()
    git(path / "lib", "init", "-q")
    (path / "lib" / "notes.txt").write_text("mine\n")
    refused = shop.run("workspace", "remove", "busy", "--archive")
    assert (refused.code, "holds a repository of its own: lib/" in refused.err) == (7, True)
    assert (path / "lib" / "notes.txt").exists()
    shutil.move(path / "lib", shop.root.parent / "elsewhere")
    ref = shop.run("workspace", "remove", "busy", "--archive", "--json").json["archived"]
    assert git(shop.root, "show", f"{ref}:app.py") == "print(2)"


def test_an_archived_workspace_can_be_brought_back(shop: Lab) -> None:
    path = made(shop, "busy")
    (path / "app.py").write_text("print(2)\n")
    git(path, "commit", "-am", "committed")
    (path / "new.py").write_text("x = 1\n")
    ref = shop.run("workspace", "remove", "busy", "--archive", "--json").json["archived"]
    assert not path.exists()
    assert git(shop.root, "branch", "--list", "interlock/*") == ""
    back = made(shop, "again", "--from", ref)
    assert (back / "new.py").read_text() == "x = 1\n"
    assert (back / "app.py").read_text() == "print(2)\n"


def test_an_archive_keeps_the_staged_version_of_a_file_too(shop: Lab) -> None:
    path = made(shop, "busy")
    (path / "app.py").write_text("staged\n")
    git(path, "add", "app.py")
    (path / "app.py").write_text("edited\n")
    (shop.root / ".git/worktrees/busy/index.lock").touch()  # of a git process that was killed
    ref = shop.run("workspace", "remove", "busy", "--archive", "--json").json["archived"]
    assert git(shop.root, "show", f"{ref}:app.py") == "edited"
    assert git(shop.root, "show", f"{ref}^:app.py") == "staged"
    assert git(shop.root, "rev-parse", f"{ref}~2") == git(shop.root, "rev-parse", "main")


def test_force_loses_it_and_a_merged_one_goes_without_a_word(shop: Lab) -> None:
    path = made(shop, "busy")
    (path / "new.py").write_text("x = 1\n")
    assert shop.run("workspace", "remove", "busy", "--force").code == 0
    made(shop, "clean")
    assert shop.run("workspace", "remove", "clean").out == "removed clean\n"
    assert git(shop.root, "for-each-ref", "refs/interlock/archive") == ""
    assert "no workspaces" in shop.run("workspace", "list").err


@pytest.mark.parametrize("name", ["../out", "-x", "a b", "", "x" * 61])
def test_a_name_that_no_folder_should_have_is_refused(shop: Lab, name: str) -> None:
    assert shop.run("workspace", "new", "--", name).code == 2


def test_a_name_that_is_taken_or_unknown_is_refused(shop: Lab) -> None:
    made(shop, "one")
    assert "exists already" in shop.run("workspace", "new", "one").err
    assert "there is no workspace `two`" in shop.run("workspace", "remove", "two").err


def test_the_folder_is_the_users_to_choose_and_not_the_repositorys(shop: Lab, tmp_path: Path) -> None:
    (shop.root / "interlock.toml").write_text(f'workspace_folder = "{tmp_path}/elsewhere"\n')
    assert "a repository may not set" in shop.run("workspace", "new", "one").err
    (shop.root / "interlock.toml").unlink()


def test_the_workspaces_of_agents_are_listed_beside(shop: Lab) -> None:
    folder = shop.root / ".git/interlock/workspaces/api/2/tree"
    folder.mkdir(parents=True)
    (folder / "file").write_text("x\n")
    (row,) = shop.run("workspace", "list", "--json").json["agents"]
    assert (row["task"], row["attempt"], row["is_running"]) == ("api", 2, False)
    assert "attempt 2" in shop.run("workspace", "list").out


ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture
def nested(shop: Lab, tmp_path: Path) -> Lab:
    """The same with a submodule `lib`, which has a submodule `inner`; lib is pinned to a tag on no branch."""
    for name in ("inner", "lib"):
        git(tmp_path, "init", "-q", "-b", "main", name)
        (tmp_path / name / "f.txt").write_text("one\n")
        git(tmp_path / name, "add", "-A")
        git(tmp_path / name, "commit", "-m", "one")
    git(tmp_path / "lib", *ALLOW, "submodule", "add", "-q", str(tmp_path / "inner"))
    git(tmp_path / "lib", "commit", "-m", "inner")
    git(tmp_path / "lib", "tag", "v1")
    git(shop.root, *ALLOW, "submodule", "add", "-q", str(tmp_path / "lib"))
    git(shop.root, "commit", "-m", "lib")
    git(tmp_path / "lib", "reset", "--hard", "HEAD~1")
    return shop


def with_submodules(lab: Lab, name: str) -> Path:
    path = made(lab, name)
    git(path, *ALLOW, "submodule", "update", "-q", "--init", "--recursive")
    return path / "lib"


def test_work_in_a_submodule_is_not_lost_with_the_workspace(nested: Lab) -> None:
    lib = with_submodules(nested, "one")
    assert "  clean" in nested.run("workspace", "list").out

    def refused(said: str) -> None:
        assert said in nested.run("workspace", "list").out
        for words in ((), ("--archive",)):
            answer = nested.run("workspace", "remove", "one", *words)
            assert (answer.code, f"workspace one holds {said}" in answer.err) == (7, True), answer.err
            assert "push or move them; --force loses it" in answer.err

    (lib / "f.txt").write_text("hours\n")
    (lib / "new.txt").write_text("of work\n")
    refused("the submodule lib with 2 edited files")
    git(lib, "stash", "-u")
    refused("the submodule lib with 1 stash")
    git(lib, "stash", "pop")
    git(lib, "switch", "-c", "work")
    git(lib, "add", "-A")
    git(lib, "commit", "-m", "work")
    refused("the submodule lib with 1 unpushed commit")
    git(lib.parent, "commit", "-am", "record it")  # that saves the number of the commit, not the commit
    refused("the submodule lib with 1 unpushed commit")
    git(lib.parent, "reset", "--hard", "HEAD~1")
    git(lib, "checkout", "--detach", "v1")
    refused("the submodule lib with 1 unpushed commit")
    git(lib, "tag", "kept", "work")
    git(lib, "branch", "-D", "work")
    refused("the submodule lib with 1 unpushed commit")
    git(lib, "push", "-q", "origin", "kept:refs/heads/work")
    (lib / "inner" / "f.txt").write_text("hours\n")
    refused("the submodule lib/inner with 1 edited file")
    git(lib.parent, "submodule", "deinit", "-f", "lib")
    assert nested.run("workspace", "remove", "one").code == 0


def test_an_untouched_submodule_and_one_whose_work_the_checkout_has_do_not_hinder(
    nested: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor does a file that the person's own git ignores."""
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "ignore").write_text("*.swp\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (with_submodules(nested, "plain") / ".f.txt.swp").touch()
    assert nested.run("workspace", "remove", "plain").out == "removed plain\n"
    lib = with_submodules(nested, "two")
    git(lib, "commit", "--allow-empty", "-m", "work")
    git(nested.root / "lib", "fetch", "-q", str(lib), "HEAD:refs/heads/work")
    assert nested.run("workspace", "remove", "two", "--archive").code == 0
    lib = with_submodules(nested, "three")
    git(lib, "commit", "--allow-empty", "-m", "work")
    assert nested.run("workspace", "remove", "three", "--force").code == 0
