"""`gc` never removes the only copy; `doctor` ends each bad row in a command (D10)."""

import json
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest

from interlock.git.attempt import AttemptFolder, Kept, WorkspaceOpened
from interlock.git.files import SCRATCH
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult
from interlock.model.task import Commit, TaskId
from interlock.process.probe import FOLDERS
from interlock.ui.cli.check_checkup import check_finding
from interlock.ui.cli.trying import in_words
from interlock.ui.queries.findings import Health
from tests.ui.conftest import Lab, git, task

DAY = 86_400


def trashed(lab: Lab, name: str, *, kept: bool, days: int) -> Path:
    """A folder in the trash: of work that is in the repository, or of work that is nowhere else."""
    home = lab.root / ".git/interlock" / "trash" / name
    (home / "tree").mkdir(parents=True)
    (home / "tree" / "secret.txt").write_text("work")
    folder = AttemptFolder(home)
    folder.note(WorkspaceOpened(TaskId("a"), 1, Commit("b" * 40), {}))
    if kept:
        folder.note(Kept(Commit("c" * 40), "refs/interlock/work/a/1"))
    old = home.stat().st_mtime - days * DAY
    os.utime(home, (old, old))
    return home


def test_old_trash_goes_and_young_trash_stays(lab: Lab) -> None:
    old, young = trashed(lab, "old", kept=True, days=8), trashed(lab, "young", kept=True, days=6)
    dry = lab.run("gc", "--dry-run")
    assert f"would remove {old}" in dry.out
    assert old.exists()
    assert lab.run("gc").code == 0
    assert (old.exists(), young.exists()) == (False, True)
    lab.run("gc", "--older-than", "5d")
    assert not young.exists()


def test_work_that_is_nowhere_else_is_refused_and_the_flag_is_named(lab: Lab) -> None:
    only = trashed(lab, "only", kept=False, days=100)
    result = lab.run("gc")
    assert f"kept {only}" in result.err
    assert "interlock gc --delete-unmerged" in result.err
    assert only.exists()
    lab.run("gc", "--delete-unmerged", "--dry-run")
    assert only.exists()
    assert lab.run("gc", "--delete-unmerged", "--json").json["removed"][0]["path"] == str(only)
    assert not only.exists()


def test_an_age_that_is_none_is_refused(lab: Lab) -> None:
    assert lab.run("gc", "--older-than", "old").code == 2


def checks(lab: Lab) -> dict[str, Any]:  # Any: JSON
    return {check["name"]: check for check in json.loads(lab.run("doctor", "--json").out)["checks"]}


def test_a_healthy_repository_passes_and_nothing_is_made(lab: Lab) -> None:
    result = lab.run("doctor")
    assert result.code == 0
    assert "work lands on main" in result.out
    assert not (lab.root / ".git/interlock").exists()


@pytest.mark.slow
def test_every_bad_row_ends_in_a_command(lab: Lab) -> None:
    (lab.root / "README.md").write_text("edited\n")
    (lab.root / "task-graph.yaml").write_text(
        "version: 1\nagents: {a: {use: command, run: [no-such-agent]}, b: {use: command, run: [./b.sh]}}\n"
        "defaults: {agent: a}\ntasks:\n  one: {goal: x}\n  two: {goal: y, agent: b}\n"
    )
    (lab.root / "b.sh").write_text("#!/bin/sh\n")
    assert lab.run("doctor").code == 7
    found = checks(lab)
    bad = {name: check for name, check in found.items() if check["health"] == "bad"}
    assert set(bad) == {"agent a", "agent b"}
    assert "README.md" in found["checkout"]["text"]
    assert all(check["fix"] for check in bad.values())
    assert "chmod +x" in bad["agent b"]["fix"]


def test_a_broken_log_is_found(lab: Lab) -> None:
    lab.accept(task("a"))
    (lab.root / ".git/interlock" / "log.db").write_bytes(b"this is no database, not by any means" * 100)
    assert checks(lab)["log"]["health"] == "bad"


def test_a_run_that_died_is_pointed_out(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.start("a")
    assert checks(lab)["run"]["fix"] == "interlock run"


@pytest.mark.slow
def test_a_broken_graph_is_one_bad_row(lab: Lab) -> None:
    (lab.root / "task-graph.yaml").write_text("tasks: [\n")
    assert checks(lab)["graph"]["health"] == "bad"
    git(lab.root, "checkout", "-q", "--detach")
    assert checks(lab)["checkout"]["health"] == "warning"


def agent_home(lab: Lab, name: str, days: int) -> Path:
    """What the agent of a task's first attempt has left behind."""
    home = lab.root / ".git/interlock" / "homes" / name / "1"
    home.mkdir(parents=True)
    (home / "session.json").write_text("{}")
    old = home.stat().st_mtime - days * DAY
    for path in (home, home.parent):
        os.utime(path, (old, old))
    return home


def test_scratch_folders_of_commands_that_were_killed_go_after_an_hour(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    places = (lab.root / ".git/interlock", tmp_path)
    left = [place / f"{start}x1y2z3" for place in places for start in (SCRATCH, FOLDERS)]
    for folder in left:
        (folder / "work" / "work").mkdir(parents=True)
        (folder / "work" / "work").chmod(0)  # as the kernel leaves that of an overlay
        os.utime(folder, (folder.stat().st_mtime - 2 * 3_600,) * 2)
    young = tmp_path / f"{SCRATCH}young"
    young.mkdir()
    (tmp_path / f"{SCRATCH}link").symlink_to(tmp_path / "gone")
    said = lab.run("gc", "--dry-run").out
    assert all(f"would remove {folder}" in said for folder in left) and all(map(Path.exists, left))
    lab.run("gc")
    assert not any(map(Path.exists, left)) and young.exists()


def test_homes_of_agents_go_once_their_task_has_long_been_over(lab: Lab) -> None:
    lab.accept(task("failed"), task("waiting"), task("lately"))
    lab.fail("failed", "no idea")
    lab.fail("lately", "no idea")
    over, needed, young = (
        agent_home(lab, "failed", 8),
        agent_home(lab, "waiting", 8),
        agent_home(lab, "lately", 1),
    )
    (over.parent / "2").symlink_to("1")
    os.utime(over.parent / "2", (0, 0), follow_symlinks=False)
    os.utime(over.parent, (0, 0))
    assert f"would remove {over.parent}" in lab.run("gc", "--dry-run").out
    assert over.exists()
    assert lab.run("gc").code == 0
    assert [home.exists() for home in (over, needed, young)] == [False, True, True]


def test_homes_stay_while_a_run_goes_on(lab: Lab) -> None:
    lab.accept(task("failed"))
    lab.fail("failed", "no idea")
    home = agent_home(lab, "failed", 8)
    lab.take_charge()
    lab.run("gc")
    assert home.exists()


def test_old_set_ups_go_and_the_newest_stay(lab: Lab) -> None:
    home = lab.root / ".git/interlock/setups"
    for number in range(7):
        (home / f"made{number}").mkdir(parents=True)
        os.utime(home / f"made{number}", (number * DAY, number * DAY))
    (home / "shared").symlink_to("made0")
    assert f"would remove {home / 'made1'}" in lab.run("gc", "--dry-run").out
    assert lab.run("gc").code == 0
    assert sorted(path.name for path in home.iterdir()) == [f"made{number}" for number in range(2, 7)]


@pytest.mark.slow
def test_each_kind_of_agent_that_is_missing_has_its_row_and_the_command_that_installs_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = checks(lab)
    for kind in ("claude-code", "codex", "gemini", "qwen", "opencode", "copilot"):
        assert found[kind]["fix"].startswith("npm install -g")


@pytest.mark.slow
def test_outside_of_a_repository_the_sandbox_that_is_asked_for_is_looked_at(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    lab.root = outside
    monkeypatch.setenv("INTERLOCK_SANDBOX", "container")
    found = checks(lab)
    assert found["repository"]["health"] == "bad"
    assert found["sandbox"]["text"] == "container: no image is named"


def test_without_a_sandbox_because_a_person_said_so_is_a_warning(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_UNSAFE_NO_SANDBOX", "1")
    assert checks(lab)["sandbox"]["health"] == "warning"
    assert checks(lab)["sandbox"]["fix"] == "unset INTERLOCK_UNSAFE_NO_SANDBOX"


def test_nobody_is_sent_to_init_in_a_bare_repository(lab: Lab, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(lab.root), str(bare))
    lab.root = bare
    for words in ([], ["status"], ["plan"], ["run"], ["doctor"]):
        result = lab.run(*words)
        assert "interlock init" not in result.out + result.err
    assert "git clone" in checks(lab)["graph"]["fix"]


@pytest.mark.slow
def test_a_local_model_that_wants_a_key_is_not_well_without_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (lab.root / "task-graph.yaml").write_text(
            f"version: 1\nagents: {{a: {{use: built-in, url: '{url}', model: m, key_env: MODEL_KEY}}}}\n"
            "defaults: {agent: a}\ntasks: {one: {goal: x}}\n"
        )
        monkeypatch.delenv("MODEL_KEY", raising=False)
        assert checks(lab)["agent a"]["fix"] == "export MODEL_KEY=..."
        monkeypatch.setenv("MODEL_KEY", "k")
        assert checks(lab)["agent a"]["health"] == "ok"


def test_a_red_check_that_cannot_be_judged_test_by_test_is_not_called_usable() -> None:
    """`run` starts nothing on it, so doctor and init must not promise that its failures are known."""
    stops = SuiteResult(("a",), ("b",), 1, 1, flaw="`-x` stops at the first failure: remove it")
    red = CheckResult("pytest -x", 1, suite=stops)
    assert check_finding(red).health is Health.BAD and "remove it" in check_finding(red).text
    assert not in_words(red).is_usable and "remove it" in in_words(red).text


def records(lab: Lab, name: str, days: int, size: int = 100) -> list[Path]:
    """The outputs of a task and the evidence of its checks."""
    found = []
    for path in (Path("logs") / name, Path("evidence") / name / "1-1"):
        folder = lab.root / ".git/interlock" / path
        folder.mkdir(parents=True)
        (folder / "1.log").write_text("x" * size)
        old = folder.stat().st_mtime - days * DAY
        for each in (folder / "1.log", folder):
            os.utime(each, (old, old))
        found.append(folder)
    return found


def test_old_records_of_tasks_that_are_over_go_and_all_others_stay(lab: Lab) -> None:
    lab.accept(task("failed"), task("lately"), task("waiting"), task("kept"))
    for name in ("failed", "lately", "kept"):
        lab.fail(name, "no idea")
    trashed(lab, "kept-1-17", kept=False, days=100)  # its work is not in the repository
    old, young = records(lab, "failed", 91), records(lab, "lately", 89)
    needed = [*records(lab, "waiting", 91), *records(lab, "kept", 91)]
    log = Path(lab.log).read_bytes()
    assert f"would remove {old[0]}" in lab.run("gc", "--dry-run").out
    assert all(map(Path.exists, old))
    lab.run("gc", "--older-than", "0s")
    assert [path.exists() for path in (*old, *young)] == [False, False, True, True]
    removed = lab.run("gc", "--records-older-than", "1d", "--json").json["removed"]
    assert [(left["path"], left["state"]) for left in removed] == [(str(path), "records") for path in young]
    assert all(map(Path.exists, needed))
    assert Path(lab.log).read_bytes() == log
    assert lab.run("show", "failed").code == 0
    assert lab.run("logs", "failed").code != 70  # an answer, and no defect


def test_beyond_a_size_the_oldest_records_go_but_none_of_today(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.accept(task("first"), task("second"), task("today"))
    for name in ("first", "second", "today"):
        lab.fail(name, "no idea")
    first, second, today = (
        records(lab, name, days, 400_000) for name, days in (("first", 9), ("second", 8), ("today", 0))
    )
    monkeypatch.setenv("INTERLOCK_RECORD_LIMIT_BYTES", "1700000")
    lab.run("gc")
    assert [path.exists() for path in (*first, *second, *today)] == [False, False, *[True] * 4]
    monkeypatch.setenv("INTERLOCK_RECORD_LIMIT_BYTES", "1")
    lab.run("gc")
    assert [path.exists() for path in (*second, *today)] == [False, False, True, True]
