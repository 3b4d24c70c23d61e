"""A bad environment gives a clear message, the next command and exit 7, and nothing is lost."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.conftest import Lab, Result, git, interlock, task

pytestmark = pytest.mark.slow

SETPRIV = shutil.which("setpriv")

GRAPH = """\
version: 1
defaults: {agent: coder}
agents:
  coder: {use: command, run: [sh, -c, 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"']}
tasks:
  one: {goal: Make one}
"""


def refused(result: Result, *words: str, code: int = 7) -> None:
    assert result.code == code, result
    assert result.err.startswith("error: ")
    assert "\nhint: " in result.err
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


def commit_graph(root: Path) -> None:
    (root / "task-graph.yaml").write_text(GRAPH)
    git(root, "add", "task-graph.yaml")
    git(root, "commit", "-q", "-m", "graph")


def landed(root: Path, *words: str) -> Result:
    result = interlock("run", *words, cwd=root)
    assert result.code == 0, result
    assert git(root, "show", "main:one.txt") == "one"
    return result


@pytest.mark.parametrize("command", ["status", "run", "init"])
def test_git_is_missing(repository: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty").mkdir()
    refused(
        interlock(command, cwd=repository, env={"PATH": str(tmp_path / "empty")}), "git", "install git 2.38"
    )


def test_git_is_too_old(repository: Path, tmp_path: Path) -> None:
    commit_graph(repository)
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *version*) echo git version 2.30.2;; *) exec {real} "$@";; esac\n'
    )
    fake.chmod(0o755)
    old = {"PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}"}
    refused(interlock("run", cwd=repository, env=old), "git 2.30 is too old", "upgrade git")
    assert "2.30 is too old" in interlock("doctor", cwd=repository, env=old).out


@pytest.mark.parametrize("command", ["status", "plan", "run", "init"])
def test_it_is_not_a_repository(tmp_path: Path, command: str) -> None:
    refused(interlock(command, cwd=tmp_path), "is not in a git repository", "git init")


def test_there_are_no_commits_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "task-graph.yaml").write_text(GRAPH)
    refused(interlock("run", cwd=tmp_path), "no commits yet", "git commit")


def test_there_is_no_graph(repository: Path) -> None:
    refused(interlock("run", cwd=repository), "there is no task-graph.yaml", "interlock init", code=2)


def test_the_checkout_of_main_is_dirty(repository: Path) -> None:
    commit_graph(repository)
    (repository / "README.md").write_text("My edit\n")
    landed(repository)
    assert (repository / "README.md").read_text() == "My edit\n"


def test_files_git_does_not_know_are_no_hindrance(repository: Path) -> None:
    commit_graph(repository)
    (repository / "notes.txt").write_text("mine\n")
    landed(repository)
    assert (repository / "notes.txt").read_text() == "mine\n"


def test_a_detached_head_is_left_alone(repository: Path) -> None:
    commit_graph(repository)
    git(repository, "checkout", "-q", "--detach")
    before = git(repository, "rev-parse", "HEAD")
    landed(repository)
    assert git(repository, "rev-parse", "HEAD") == before
    assert "HEAD is detached" in interlock("doctor", cwd=repository).out


def test_a_branch_may_be_called_like_an_option(repository: Path) -> None:
    commit_graph(repository)
    git(repository, "update-ref", "refs/heads/-x", "HEAD")
    git(repository, "symbolic-ref", "HEAD", "refs/heads/-x")
    git(repository, "update-ref", "-d", "refs/heads/main")
    result = interlock("run", cwd=repository)
    assert result.code == 0, result
    assert git(repository, "show", "refs/heads/-x:one.txt") == "one"


def test_paths_may_hold_spaces_and_any_letters(tmp_path: Path) -> None:
    root = tmp_path / "mein Läden 店 'quoted'"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit_graph(root)
    landed(root)
    assert interlock("--project", str(root), "status", "--exit-code", cwd=tmp_path).code == 0


@pytest.mark.slow
def test_a_project_may_be_named_by_a_path_from_here(tmp_path: Path) -> None:
    """As `git -C` takes it: also where it does not begin with dots."""
    root = tmp_path / "here" / "below"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    commit_graph(root)
    assert interlock("--project", "here/below", "run", cwd=tmp_path).code == 0
    assert git(root, "show", "main:one.txt") == "one"
    for name, here in (("below", root.parent), (".", root), ("../below", root)):
        assert interlock("--project", name, "status", "--exit-code", cwd=here).code == 0


@pytest.mark.slow
def test_a_log_elsewhere_is_the_same_from_every_folder_of_the_repository(repository: Path) -> None:
    commit_graph(repository)
    (repository / "interlock.toml").write_text('store = "kept/log.sqlite"\n')
    (repository / "kept").mkdir()
    (repository / "sub").mkdir()
    assert interlock("trust", "--yes", cwd=repository).code == 0
    landed(repository)
    found = interlock("--project", ".", "doctor", cwd=repository / "sub").out
    assert "chain intact" in found
    assert f" MB in {repository / 'kept' / 'log.sqlite'}\n" in found
    assert interlock("status", "--exit-code", cwd=repository / "sub").code == 0
    assert not (repository / ".git/interlock" / "log.db").exists()


@pytest.mark.skipif(os.geteuid() == 0 and not SETPRIV, reason="root writes anywhere")
def test_the_state_folder_cannot_be_written(lab: Lab) -> None:
    commit_graph(lab.root)
    lab.accept(task("one"))
    state = lab.root / ".git/interlock"
    for path in (state / "log.db", state):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        refused(without_privileges("run", cwd=lab.root), ".git/interlock")
    finally:
        state.chmod(0o700)
        (state / "log.db").chmod(0o600)
    assert len(lab.facts()) == 1


def without_privileges(*words: str, cwd: Path) -> Result:
    """As somebody to whom permissions apply: root may write anywhere."""
    argv = [sys.executable, "-m", "interlock", *words]
    if os.geteuid() == 0:
        argv = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *argv]
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def test_the_disk_is_full(lab: Lab) -> None:
    """A limit on the size of files stands in for a disk that takes no more."""
    commit_graph(lab.root)
    lab.accept(*(task(f"t{number}") for number in range(50)))
    size = Path(lab.log).stat().st_size
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "pause"],
        cwd=lab.root,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, size)),
    )
    result = Result(done.returncode, done.stdout, done.stderr)
    refused(result)
    assert len(lab.facts()) == 50
    assert lab.run("events", "--verify").code == 0


def test_a_bare_repository_has_nothing_to_init(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main")
    refused(interlock("init", cwd=tmp_path))
    assert not (tmp_path / "task-graph.yaml").exists()


@pytest.mark.skipif(os.geteuid() == 0 and not SETPRIV, reason="root writes anywhere")
def test_the_state_folder_cannot_be_made(repository: Path) -> None:
    commit_graph(repository)
    (repository / ".git").chmod(0o500)
    try:
        refused(without_privileges("run", cwd=repository), ".git/interlock")
    finally:
        (repository / ".git").chmod(0o700)
