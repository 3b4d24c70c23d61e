"""`run` as people use it: real git, real agents, Ctrl-C, a terminal, another terminal."""

import json
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.ui.cli.exits import ExitCode
from tests.engine.scratch import Background
from tests.ui.conftest import git, interlock
from tests.warm import INTERLOCK, pieces, start, start_on_terminal

pytestmark = pytest.mark.slow

AGENT = """\
#!/bin/sh
echo "agent on $INTERLOCK_TASK_ID"
case $INTERLOCK_TASK_ID in
  bad*) exit 3 ;;
  slow*) echo waiting; cat "$GATE_FOLDER/gate" ;;
esac
echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"
"""


def project(root: Path, *tasks: str, **defaults: str) -> Path:
    """A committed graph with these tasks."""
    (root / "agent.sh").write_text(AGENT)
    (root / "agent.sh").chmod(0o755)
    settings = {"agent": "coder", "verify": "test -x agent.sh", "retries": "1", **defaults}
    lines = ["version: 1", f"defaults: {json.dumps(settings)}".replace('"1"', "1")]
    lines += ["agents:", "  coder: {use: command, run: [./agent.sh]}", "tasks:"]
    lines += [f"  {name}: {{goal: Make {name}{_needs(rest)}}}" for name, *rest in (t.split() for t in tasks)]
    (root / "task-graph.yaml").write_text("\n".join(lines) + "\n")
    git(root, "add", "task-graph.yaml", "agent.sh")
    git(root, "commit", "-q", "-m", "graph")
    return root


def _needs(names: list[str]) -> str:
    return f", needs: [{', '.join(names)}]" if names else ""


def test_everything_lands_and_the_summary_says_so(repository: Path) -> None:
    root = project(repository, "one", "two one")
    result = interlock("run", cwd=root)
    assert result.code == 0, result.err
    assert [git(root, "show", f"main:{name}.txt") for name in ("one", "two")] == ["one", "two"]
    assert "one: landed as " in result.out
    assert "2 done" in result.out
    assert "\x1b" not in result.out
    # The user's clean checkout of main comes along.
    assert (root / "one.txt").read_text() == "one\n"
    assert git(root, "status", "--porcelain") == ""


def test_a_failure_is_exit_1_with_its_cause_and_the_next_command(repository: Path) -> None:
    root = project(repository, "one", "bad", "after bad")
    result = interlock("run", cwd=root)
    assert result.code == ExitCode.FAILED
    assert "exited with status 3" in result.out
    assert "next: interlock explain bad" in result.out
    explained = interlock("explain", "after", cwd=root).out
    assert explained.rstrip().endswith("next: interlock retry bad")
    assert "agent on bad" in interlock("logs", "bad", cwd=root).out
    assert "+one" in interlock("diff", "one", cwd=root).out


EDITS = rb"""#!/bin/sh
printf 'a\r\nb2\r\n' > crlf.txt; printf 'RED = "\033[31m"\nT = "\033]0;x\007"\n' > colours.py
printf 'x\r y \377\n' > latin.txt; printf '\000\001' > image.bin
"""


def test_a_diff_that_is_no_terminals_is_a_patch_to_the_byte(repository: Path) -> None:
    root = project(repository, "one")
    (root / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    (root / "agent.sh").write_bytes(EDITS)
    git(root, "add", "-A")
    git(root, "commit", "-m", "odd")
    assert interlock("run", cwd=root).code == 0
    done = subprocess.run([*INTERLOCK, "diff", "one"], cwd=root, capture_output=True, check=True)
    git(root, "checkout", "-q", "--detach", "main~1")
    subprocess.run(["git", "apply", "--index"], input=done.stdout, cwd=root, check=True)
    assert git(root, "write-tree") == git(root, "rev-parse", "main^{tree}")


def test_programs_get_facts_line_by_line_and_a_summary_at_the_end(repository: Path) -> None:
    root = project(repository, "one")
    lines = interlock("run", "--json", cwd=root).lines
    kinds = [line.get("kind") for line in lines]
    assert kinds.index("PhaseStarted") < kinds.index("Landed") < kinds.index("RunEnded")
    assert lines[-1]["summary"]["tasks"][0]["state"] == "done"
    assert lines[-1]["summary"]["metrics"]["landed"] == 1


def test_a_filter_that_fits_nothing_is_an_error(repository: Path) -> None:
    result = interlock("run", "--story", "nowhere", cwd=project(repository, "one"))
    assert (result.code, "no task has the story `nowhere`" in result.err) == (2, True)


def test_a_broken_graph_names_every_place(repository: Path) -> None:
    root = project(repository, "one")
    (root / "task-graph.yaml").write_text("version: 1\ntasks:\n  one: {gaol: x}\n")
    result = interlock("run", "--json", cwd=root)
    assert result.code == 2
    problems = result.json["error"]["problems"]
    assert 3 in {problem["line"] for problem in problems}
    assert "task-graph.yaml:3:" in interlock("plan", cwd=root).err


def test_a_begun_task_that_left_the_graph_is_given_up_only_on_demand(repository: Path) -> None:
    root = project(repository, "bad", "one")
    assert interlock("run", cwd=root).code == 1
    project(root, "one")
    result = interlock("run", cwd=root)
    assert (result.code, "use --yes" in result.err) == (2, True)
    assert interlock("run", "--yes", cwd=root).code == 0


def test_on_a_terminal_a_person_is_asked_and_may_say_no(repository: Path) -> None:
    root = project(repository, "bad", "one")
    interlock("run", "--only", "bad", cwd=root)
    project(root, "one")
    process, mine = start_on_terminal([*INTERLOCK, "run"], root)
    seen = ""
    for piece in pieces(mine):
        seen += piece
        if "Continue? [y/N]" in seen:
            os.write(mine, b"n\n")
            break
    seen += "".join(pieces(mine))
    os.close(mine)
    assert process.wait() == ExitCode.DECLINED
    assert "no task started" in seen


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where slow agents wait for a word."""
    folder = tmp_path / "gates"
    folder.mkdir()
    os.mkfifo(folder / "gate")
    monkeypatch.setenv("GATE_FOLDER", str(folder))
    monkeypatch.setenv("INTERLOCK_TOOLCHAINS", f"auto,{folder}")
    monkeypatch.setenv("INTERLOCK_PASS_ENV", "GATE_FOLDER")
    return folder


@contextmanager
def started(root: Path, *words: str) -> Iterator[Background]:
    """A run in the background, its lines read as they come."""
    run = Background([*INTERLOCK, "run", *words], root)
    try:
        yield run
    finally:
        run.close()


def open_gate(gate: Path) -> None:
    (gate / "gate").write_text("go\n")


def test_a_reader_who_leaves_does_not_end_the_run(repository: Path) -> None:
    """`interlock run | head -1`"""
    root = project(repository, "one", "two one", "three two")
    for words in ([], ["--json"]):
        printed, out = os.pipe()
        complaints, err = os.pipe()
        process = start([*INTERLOCK, "run", *words], root, out=out, err=err)
        os.close(out)
        os.close(err)
        with os.fdopen(printed) as reader:
            assert reader.readline()
        with os.fdopen(complaints) as reader:
            told = reader.read().splitlines()
        assert all(line.startswith("trying ") for line in told), told
        assert process.wait() == 0
    states = {row["id"]: row["state"] for row in interlock("status", "--json", cwd=root).json["tasks"]}
    assert states == {"one": "done", "two": "done", "three": "done"}


def test_ctrl_c_while_the_upstream_is_being_fetched_stops_at_once(repository: Path, tmp_path: Path) -> None:
    root = project(repository, "one")
    os.mkfifo(tmp_path / "asked")
    asked = os.open(tmp_path / "asked", os.O_RDONLY | os.O_NONBLOCK)
    git(root, "remote", "add", "origin", "ssh://localhost/nowhere")
    git(root, "config", "branch.main.remote", "origin")
    git(root, "config", "branch.main.merge", "refs/heads/main")
    git(root, "config", "core.sshCommand", f"echo asked > '{tmp_path}/asked'; exec sleep 600 #")
    with started(root) as run:
        assert select.select([asked], [], [], 60)[0], "the upstream was never asked"
        run.interrupt()
        run.wait_for_line("stopping; no task is running")
        assert run.wait() == ExitCode.INTERRUPTED
    os.close(asked)
    assert interlock("status", "--json", cwd=root).json["tasks"][0]["state"] == "waiting"


def test_another_terminal_stops_the_whole_run(repository: Path, gate: Path) -> None:
    root = project(repository, "slow")
    with started(root) as run:
        run.wait_for_line("slow: implement started")
        assert interlock("cancel", "--all", cwd=root).code == 0
        assert run.wait() == ExitCode.DECLINED


def test_on_a_terminal_the_view_is_live_and_leaves_a_summary(repository: Path, gate: Path) -> None:
    """A23."""
    root = project(repository, "slow")
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    process, mine = start_on_terminal([*INTERLOCK, "run"], root, env)
    seen = ""
    for piece in pieces(mine):
        seen += piece
        if "waiting" in seen and "last action" in seen:
            open_gate(gate)
            break
    seen += "".join(pieces(mine))
    os.close(mine)
    assert process.wait() == 0
    assert "slow: landed as" in seen
    assert "1 \x1b[32mdone" in seen


@pytest.mark.postgres
def test_the_log_may_be_in_postgres(
    repository: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(repository, "one", "bad")
    monkeypatch.setenv("INTERLOCK_STORE", postgres_url)
    monkeypatch.setenv("INTERLOCK_PROJECT_NAME", str(root))
    assert interlock("run", cwd=root).code == ExitCode.FAILED
    assert not (root / ".git/interlock" / "log.db").exists()
    states = {row["id"]: row["state"] for row in interlock("status", "--json", cwd=root).json["tasks"]}
    assert states == {"one": "done", "bad": "failed"}
    assert interlock("retry", "bad", cwd=root).code == 0
    assert interlock("events", "--verify", cwd=root).code == 0
    assert interlock("doctor", cwd=root).code == 0
