"""Workspaces: made by plain files, private to the attempt, collected whole (W7, T1, D10)."""

import os
import select
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.git.errors import GitFailed
from interlock.git.workspaces import GitWorkspaces
from interlock.model.sandbox import Grant
from interlock.model.task import TaskId
from tests.git.agents import TASK, collected, committed, opened
from tests.git.world import World, git, make_world, run, write


def test_a_workspace_is_a_working_repository_of_its_own(world: World) -> None:
    workspace = opened(world)
    assert git(workspace.path, "status", "--porcelain=v2", "--branch").splitlines()[:2] == [
        f"# branch.oid {world.main}",
        "# branch.head task/fix-login/work",
    ]
    assert git(workspace.path, "diff", "--stat", "main") == ""
    assert workspace.path == world.root / ".git/interlock" / "workspaces" / "fix-login" / "1" / "tree"
    assert git(workspace.path, "config", "core.hooksPath") == "/dev/null"
    assert world.status() == ""


@pytest.mark.slow
def test_everything_an_agent_does_with_git_works(world: World) -> None:
    workspace = opened(world)
    base = world.main
    committed(workspace, {"x.txt": "1\n"})
    git(workspace.path, "commit", "-q", "--amend", "-m", "amended")
    git(workspace.path, "switch", "-q", "-c", "side", base)
    committed(workspace, {"y.txt": "2\n"})
    git(workspace.path, "rebase", "-q", "task/fix-login/work")
    write(workspace.path, {"y.txt": "3\n"})
    git(workspace.path, "stash", "-q")
    git(workspace.path, "stash", "pop", "-q")
    assert git(world.root, "branch", "--format=%(refname)") == "refs/heads/main"
    result = collected(world, workspace)
    assert result.touched == ("x.txt", "y.txt")
    assert git(world.root, "cat-file", "blob", f"{result.commit}:y.txt") == "3"


def test_nothing_done_is_no_change(world: World) -> None:
    result = collected(world, opened(world))
    assert (result.changed, result.commit, result.touched) == (False, world.main, ())


def test_files_that_were_never_committed_are_collected(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {"new.txt": "n\n", "a.txt": "changed\n"})
    (workspace.path / "src" / "b.txt").unlink()
    result = collected(world, workspace)
    assert result.touched == ("a.txt", "new.txt", "src/b.txt")
    assert git(world.root, "rev-parse", result.ref, f"{result.commit}^") == f"{result.commit}\n{world.main}"
    assert (
        git(world.root, "log", "-1", "--format=%an|%cn|%s", result.ref) == "Ada|Interlock|What the agent left"
    )


@pytest.mark.slow
def test_an_edit_in_the_same_second_and_of_the_same_size_is_seen(world: World) -> None:
    """Git looks at sizes and seconds, and only the time of its index tells when that is not enough."""
    workspace = opened(world)
    write(workspace.path, {"src/b.txt": "c\n"})
    edited = int((workspace.path / "src/b.txt").stat().st_mtime)
    while int(time.time()) == edited:
        select.select([], [], [], 0.01)
    assert collected(world, workspace).touched == ("src/b.txt",)


def test_commits_of_the_agent_stay_as_they_are(world: World) -> None:
    workspace = opened(world)
    tip = committed(workspace, {"x.txt": "x\n"})
    assert collected(world, workspace).commit == tip
    git(world.root, "fsck", "--strict", "--no-dangling")


def test_an_edit_undone_is_no_change_but_its_commits_are_kept(world: World) -> None:
    workspace = opened(world)
    committed(workspace, {"a.txt": "other\n"})
    tip = committed(workspace, {"a.txt": "one\ntwo\nthree\n"})
    result = collected(world, workspace)
    assert (result.changed, git(world.root, "rev-parse", result.ref)) == (False, tip)


@pytest.mark.slow
@pytest.mark.parametrize(
    "story",
    [
        [["switch", "-q", "--detach"]],
        [["switch", "-q", "-c", "my/own-branch"]],
        [["pack-refs", "--all"]],
        [["gc", "-q"]],
    ],
    ids=["detached", "own branch", "packed refs", "gc"],
)
def test_the_tip_is_found_wherever_the_agent_stands(world: World, story: list[list[str]]) -> None:
    workspace = opened(world)
    for words in story:
        git(workspace.path, *words)
    tip = committed(workspace, {"x.txt": "x\n"})
    for words in story[-1:]:
        if words[0] in ("pack-refs", "gc"):
            git(workspace.path, *words)
    assert collected(world, workspace).commit == tip


@pytest.mark.slow
def test_history_that_does_not_build_on_the_base_is_kept_beside_the_files(world: World) -> None:
    """I8: every commit an agent made is reachable or archived."""
    workspace = opened(world)
    git(workspace.path, "switch", "-q", "--orphan", "fresh")
    orphan = committed(workspace, {"only.txt": "x\n"})
    result = collected(world, workspace)
    assert git(world.root, "rev-parse", f"{result.commit}^") == world.main
    assert git(world.root, "for-each-ref", "--contains", orphan, "--format=%(refname)").startswith(
        "refs/interlock/archive/fix-login/1/"
    )


@pytest.mark.slow
def test_commits_the_agent_threw_away_are_archived(world: World) -> None:
    workspace = opened(world)
    lost = committed(workspace, {"first.txt": "1\n"})
    git(workspace.path, "reset", "-q", "--hard", world.main)
    write(workspace.path, {"stashed.txt": "s\n"})
    git(workspace.path, "stash", "-q", "-u")
    stash = git(workspace.path, "rev-parse", "stash")
    committed(workspace, {"second.txt": "2\n"})
    collected(world, workspace)
    for commit in (lost, stash):
        assert "archive" in git(world.root, "for-each-ref", "--contains", commit, "--format=%(refname)")


@pytest.mark.parametrize(
    "head",
    ["garbage", "ref: refs/heads/none", "ref: ../../etc/passwd", "ref: refs/heads/../../x", "12" * 20, ""],
)
def test_a_head_that_makes_no_sense_falls_back_to_the_base(world: World, head: str) -> None:
    workspace = opened(world)
    write(workspace.path, {"x.txt": "x\n"})
    (workspace.home / "private.git" / "HEAD").write_text(head)
    result = collected(world, workspace)
    assert git(world.root, "rev-parse", f"{result.commit}^") == world.main


def test_a_git_dir_that_was_deleted_does_not_matter(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {"x.txt": "x\n"})
    subprocess.run(["rm", "-rf", workspace.home / "private.git", workspace.path / ".git"], check=True)
    (workspace.home / "private.git").mkdir()
    assert collected(world, workspace).touched == ("x.txt",)


@pytest.mark.slow
def test_what_the_agent_committed_counts_also_where_a_rule_ignores_it(world: World) -> None:
    """D10: half of a commit would land without the other half."""
    workspace = opened(world)
    write(
        workspace.path, {"build/b.js": "b\n", "build/gone.js": "g\n", "build/c.js": "c\n", "src.txt": "s\n"}
    )
    git(workspace.path, "add", "-f", "build/b.js", "build/gone.js", "build/c.js", "src.txt")
    git(workspace.path, "commit", "-q", "-m", "x")
    tip = git(workspace.path, "rev-parse", "HEAD")
    assert collected(world, workspace).commit == tip
    (workspace.path / "build/gone.js").unlink()
    write(workspace.path, {"build/b.js": "changed\n", "build/never-added.js": "n\n"})
    result = collected(world, workspace)
    assert result.touched == ("build/b.js", "build/c.js", "src.txt")
    assert git(world.root, "cat-file", "blob", f"{result.commit}:build/b.js") == "changed"
    assert git(world.root, "rev-parse", f"{result.commit}^") == tip


@pytest.mark.slow
def test_what_the_agent_took_out_of_git_stays_out_if_a_rule_ignores_it(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {".gitignore": "*.log\nbuild/\na.txt\n"})
    git(workspace.path, "rm", "-q", "--cached", "a.txt")
    tip = committed(workspace, {})
    result = collected(world, workspace)
    assert (result.commit, result.touched) == (tip, (".gitignore", "a.txt"))
    assert (workspace.path / "a.txt").exists()


@pytest.mark.slow
def test_a_repository_that_the_agent_committed_as_a_link_becomes_plain_files(world: World) -> None:
    workspace = opened(world)
    inner = workspace.path / "vendor"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner, {"code.c": "c\n"})
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    committed(workspace, {"x.txt": "x\n"})
    assert git(workspace.path, "ls-files", "--stage", "vendor").startswith("160000")
    assert collected(world, workspace).touched == ("vendor/code.c", "x.txt")


@pytest.mark.slow
def test_odd_files_are_collected_as_they_are(world: World, tmp_path: Path) -> None:
    workspace = opened(world)
    odd = ["-x", "--help", "new\nline.txt", "ünï 项目.txt", " lead", 'quote".txt', "a\\b.txt", ":(glob)*"]
    write(workspace.path, dict.fromkeys(odd, "x\n"))
    (workspace.path / "link").symlink_to("/etc/passwd")
    (workspace.path / "dangling").symlink_to("nowhere")
    (workspace.path / "loop").symlink_to(".")
    os.mkfifo(workspace.path / "pipe")
    (workspace.path / "run.sh").write_text("#!/bin/sh\n")
    (workspace.path / "run.sh").chmod(0o755)
    result = collected(world, workspace)
    assert set(result.touched) == {*odd, "link", "dangling", "loop", "run.sh"}
    assert git(world.root, "cat-file", "blob", f"{result.commit}:link") == "/etc/passwd"
    assert git(world.root, "ls-tree", result.commit, "run.sh").startswith("100755")


def test_names_that_are_no_unicode_can_still_be_told(world: World) -> None:
    workspace = opened(world)
    (workspace.path / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    (name,) = collected(world, workspace).touched
    assert name == "caf\\xe9.txt"
    name.encode()


@pytest.mark.slow
def test_a_repository_inside_the_tree_becomes_plain_files(world: World) -> None:
    workspace = opened(world)
    for folder in ("vendor/lib", "empty-repo"):
        (workspace.path / folder).mkdir(parents=True)
        git(workspace.path / folder, "init", "-q")
        write(workspace.path / folder, {"code.c": "c\n"})
    git(workspace.path / "vendor/lib", "add", "-A")
    git(workspace.path / "vendor/lib", "commit", "-q", "-m", "inner")
    write(workspace.path / "vendor/lib/.git", {"odd/.git/x": "a git dir inside a git dir\n"})
    result = collected(world, workspace)
    assert result.touched == ("empty-repo/code.c", "vendor/lib/code.c")
    assert (workspace.path / "vendor/lib/.git/HEAD").exists()
    assert collected(world, workspace).touched == result.touched
    run(world.workspaces.discard(workspace))
    assert list((world.root / ".git/interlock/trash").glob("*/tree/vendor/lib/.git/HEAD"))


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_unreadable_files_are_made_readable_and_collected(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {"locked/secret.txt": "x\n", "shut.txt": "y\n"})
    (workspace.path / "shut.txt").chmod(0)
    (workspace.path / "locked").chmod(0)
    assert collected(world, workspace).touched == ("locked/secret.txt", "shut.txt")


def test_a_tree_replaced_by_a_link_is_not_followed(world: World, tmp_path: Path) -> None:
    workspace = opened(world)
    write(tmp_path / "private", {"key": "secret\n"})
    workspace.path.rename(tmp_path / "away")
    workspace.path.symlink_to(tmp_path / "private")
    with pytest.raises(Exception, match="no longer a folder"):
        collected(world, workspace)


def test_objects_borrowed_from_elsewhere_are_not_believed(world: World, tmp_path: Path) -> None:
    """The host must not fetch for an agent what the agent itself may not read."""
    other = make_world(tmp_path / "other")
    secret = other.commit({"secret.txt": "hidden\n"})
    workspace = opened(world)
    alternates = workspace.home / "private.git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{other.root}/.git/objects\n")
    (workspace.home / "private.git" / "HEAD").write_text(f"{secret}\n")
    write(workspace.path, {"x.txt": "x\n"})
    result = collected(world, workspace)
    assert result.touched == ("x.txt",)
    assert git(world.root, "cat-file", "-t", secret, check=False) == ""


@pytest.mark.slow
def test_collecting_again_gives_the_same_files_and_keeps_both_commits(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {"x.txt": "x\n"})
    first = collected(world, workspace)
    write(workspace.path, {"y.txt": "y\n"})
    second = collected(world, workspace)
    assert second.touched == ("x.txt", "y.txt")
    assert git(world.root, "for-each-ref", "--contains", first.commit)


def test_a_left_over_workspace_is_found_again(world: World) -> None:
    assert run(world.workspaces.find(TASK, 1)) is None
    workspace = opened(world)
    found = run(world.workspaces.find(TASK, 1))
    assert found == replace(workspace, grant=Grant())
    assert run(world.workspaces.find(TASK, 2)) is None


@pytest.mark.crash
def test_a_half_made_workspace_is_not_found_and_made_again(world: World) -> None:
    workspace = opened(world)
    (workspace.home / "workspace.json").unlink()
    assert run(world.workspaces.find(TASK, 1)) is None
    assert run(world.workspaces.find(TASK, 1)) is None
    assert git(world.root, "for-each-ref", "refs/interlock") == ""
    assert opened(world) == workspace


@pytest.mark.crash
@pytest.mark.slow
def test_opening_over_a_left_over_workspace_loses_nothing(world: World) -> None:
    workspace = opened(world)
    write(workspace.path, {"left.txt": "over\n", "x.log": "ignored\n"})
    again = opened(world)
    assert not (again.path / "left.txt").exists()
    assert git(world.root, "cat-file", "blob", "refs/interlock/work/fix-login/1:left.txt") == "over"
    assert list((world.root / ".git/interlock/trash").glob("*/tree/x.log"))


def test_the_base_survives_a_rewritten_main(world: World) -> None:
    base = world.commit({"c.txt": "c\n"})
    workspace = opened(world)
    git(world.root, "reset", "-q", "--hard", "HEAD^")
    git(world.root, "reflog", "expire", "--expire=now", "--all")
    git(world.root, "gc", "-q", "--prune=now")
    assert git(workspace.path, "rev-parse", "HEAD^{tree}") == git(world.root, "rev-parse", f"{base}^{{tree}}")


@pytest.mark.parametrize("trouble", ["half-made", "not held"])
def test_the_base_of_others_survives_an_attempt_that_was_never_made(world: World, trouble: str) -> None:
    """One attempt holds on to the base for all that start from it."""
    workspaces, held = world.workspaces, world.root / ".git" / "refs" / "interlock" / "bases"
    if trouble == "half-made":
        half = run(workspaces.open(TASK, 1, world.main))
        (half.home / "workspace.json").unlink()
        assert run(workspaces.find(TASK, 1)) is None
    else:
        held.parent.mkdir()
        held.write_text("in the way\n")
        with pytest.raises(GitFailed):
            run(workspaces.open(TASK, 1, world.main))
        held.unlink()
    run(workspaces.open(TaskId("other"), 1, world.main))
    refs = git(world.root, "for-each-ref", "--format=%(objectname)", "refs/interlock/bases")
    assert refs.splitlines() == [world.main]


@pytest.mark.parametrize("task", ["a..b", "a.", "a.lock", "x.y.z", "0", "a" * 64])
def test_every_task_id_can_have_a_workspace(world: World, task: str) -> None:
    workspace = opened(world, task=TaskId(task))
    tip = committed(workspace, {"x.txt": "x\n"})
    result = collected(world, workspace)
    assert git(world.root, "rev-parse", result.ref) == tip
    run(world.workspaces.discard(workspace))
    assert not workspace.home.exists()


@pytest.mark.parametrize("task", ["../x", "-x", "a/b", "A", "", ".git", "a\n"])
def test_a_task_id_that_is_none_is_refused(world: World, task: str) -> None:
    with pytest.raises(ValueError, match="not a task id"):
        opened(world, task=TaskId(task))


def test_an_attempt_that_holds_too_much_is_refused_and_kept(world: World) -> None:
    workspaces = GitWorkspaces(world.place, limit_bytes=100_000)
    workspace = run(workspaces.open(TASK, 1, world.main))
    (workspace.path / "huge.bin").write_bytes(os.urandom(200_000))
    with pytest.raises(Exception, match=r"more than .* MiB"):
        run(workspaces.collect(workspace, "x\n"))
    assert not list((world.root / ".git/objects/pack").glob("*tmp*"))
    run(workspaces.discard(workspace))
    assert [left.state for left in workspaces.listing()] == ["evidence"]


@pytest.mark.slow
def test_an_attempt_that_goes_on_finds_what_the_last_one_left_and_keeps_its_base(world: World) -> None:
    """D10: a session that was cut off goes on with its files; what counts as its change stays the same."""
    one = run(world.workspaces.open(TASK, 1, world.main))
    write(one.path, {"half.txt": "half\n"})
    left = collected(world, one)
    two = run(world.workspaces.open(TASK, 2, world.main, left.ref))
    assert (two.path / "half.txt").read_text() == "half\n"
    assert git(two.path, "status", "--porcelain") == ""
    write(two.path, {"rest.txt": "rest\n"})
    result = collected(world, two)
    assert (two.base, result.touched) == (world.main, ("half.txt", "rest.txt"))


def test_what_was_left_and_is_gone_means_a_start_from_the_base(world: World) -> None:
    workspace = run(world.workspaces.open(TASK, 2, world.main, "refs/interlock/work/fix-login/1"))
    assert git(workspace.path, "rev-parse", "HEAD") == world.main
