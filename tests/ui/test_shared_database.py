"""Many repositories, one Postgres: each has a log of its own, and nobody gets into another's (T2)."""

import shutil
from pathlib import Path

import pytest

from interlock.ui.cli.exits import ExitCode
from tests.ui.conftest import git, interlock

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

GRAPH = """\
version: 1
defaults: {{agent: coder}}
agents:
  coder: {{use: command, run: [sh, -c, 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"']}}
tasks:
  {task}: {{goal: Make it}}
"""


@pytest.fixture(autouse=True)
def log_in_postgres(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STORE", postgres_url)


def shop(folder: Path, task: str) -> Path:
    """A repository in a folder called `shop`, with one task."""
    root = folder / "shop"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "task-graph.yaml").write_text(GRAPH.format(task=task))
    git(root, "add", "task-graph.yaml")
    git(root, "commit", "-q", "-m", "graph")
    return root


def states(root: Path) -> dict[str, str]:
    return {row["id"]: row["state"] for row in interlock("status", "--json", cwd=root).json["tasks"]}


def test_two_repositories_in_folders_of_the_same_name_have_two_logs(tmp_path: Path) -> None:
    one, two = shop(tmp_path / "one", "apples"), shop(tmp_path / "two", "pears")
    assert states(two) == {}
    assert not (two / ".git/interlock").exists()
    assert [interlock("run", cwd=root).code for root in (one, two)] == [0, 0]
    assert (states(one), states(two)) == ({"apples": "done"}, {"pears": "done"})


def test_every_worktree_and_a_moved_folder_find_the_same_log(tmp_path: Path) -> None:
    root = shop(tmp_path / "one", "apples")
    git(root, "worktree", "add", "-q", "-b", "mine", str(tmp_path / "linked"))
    assert interlock("run", cwd=root).code == 0
    assert states(tmp_path / "linked") == {"apples": "done"}
    shutil.move(root, tmp_path / "market")
    assert states(tmp_path / "market") == {"apples": "done"}


def test_a_name_that_another_repository_uses_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_PROJECT_NAME", f"till {tmp_path}")
    one, two = shop(tmp_path / "one", "apples"), shop(tmp_path / "two", "pears")
    assert interlock("run", cwd=one).code == 0
    assert states(two) == {}
    refused = interlock("run", cwd=two)
    assert refused.code == ExitCode.ENVIRONMENT
    said = f"the project `till {tmp_path}` of the database belongs to another repository (shop-"
    assert said in refused.err
    assert "hint: set another `project_name`" in refused.err
    for command in (["status"], ["pause"], ["cancel", "apples"]):
        assert interlock(*command, cwd=two).code == ExitCode.ENVIRONMENT
    assert git(two, "log", "--format=%s") == "graph"
    assert states(one) == {"apples": "done"}


def test_a_new_copy_of_a_repository_may_go_on_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_PROJECT_NAME", f"till {tmp_path}")
    one = shop(tmp_path / "one", "apples")
    assert interlock("run", cwd=one).code == 0
    git(tmp_path, "clone", "-q", str(one), "copy")
    (tmp_path / "copy" / ".git/interlock").mkdir()
    shutil.copy(one / ".git/interlock" / "lineage", tmp_path / "copy" / ".git/interlock" / "lineage")
    assert states(tmp_path / "copy") == {"apples": "done"}
    assert interlock("run", cwd=tmp_path / "copy").code == 0
