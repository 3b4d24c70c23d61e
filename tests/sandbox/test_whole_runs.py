"""`interlock run` with the sandbox: agents and checks see what they need, and nothing else (D11)."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import INTERLOCK, WAIT, Scratch
from tests.run.tree import linux
from tests.sandbox.room import furnished

pytestmark = [linux, pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    (tmp_path / "probe").mkdir()
    furnished(tmp_path / "probe", "bubblewrap")
    (tmp_path / "secret").write_text("private")
    made = Scratch(tmp_path / "repository")
    made.git("config", "person.token", "private")
    made.write(interlock__toml="memory_limit_bytes = 1073741824\n")
    return made


def tries(scratch: Scratch, outside: Path) -> str:
    """A script that fails if any of its attempts to reach something succeeds."""
    return "\n".join(
        [
            'reached() { echo "reached $1"; exit 9; }',
            f"cat '{outside}/secret' && reached secret",
            f"cat '{scratch.root}/mine.txt' && reached checkout",
            f"grep private '{scratch.root}/.git/config' && reached configuration",
            f"ls '{scratch.root}/.git/interlock/log.db' && reached log",
            f"touch '{outside}/made'  # in a /tmp of its own, if the folder is below one",
            f"ls '{Path.home()}/.ssh' && reached keys",
            "echo x > .git && reached pointer",
            "git config user.name Mallory && reached git",
            'test "$HOME" = "$(getent passwd 0 | cut -d: -f6)" && reached home',
        ]
    )


def test_an_agent_works_with_git_in_its_workspace_and_reaches_nothing_else(
    scratch: Scratch, tmp_path: Path
) -> None:
    work = "git log --oneline -1 && echo one > one.txt && git add one.txt && git commit -qm one && git status"
    scratch.graph("  t: {goal: x}\n", f"{tries(scratch, tmp_path)}\n{work} || exit 8\n", verify="'true'")
    scratch.write(mine__txt="private")
    scratch.interlock("run")
    assert scratch.git("show", "main:one.txt") == "one"
    assert not (tmp_path / "made").exists()
    (started,) = scratch.facts("RunStarted")
    assert started["fact"]["sandbox"] == "bubblewrap"


def test_a_check_works_with_git_in_its_checkout_and_reaches_nothing_else(
    scratch: Scratch, tmp_path: Path
) -> None:
    scratch.write(check__sh=f"{tries(scratch, tmp_path)}\ngit log --oneline -1 && git diff --quiet HEAD\n")
    scratch.graph("  t: {goal: x, done_when: [sh check.sh]}\n", "echo one > one.txt", verify="sh check.sh")
    scratch.write(mine__txt="private")
    scratch.interlock("run")
    assert scratch.git("show", "main:one.txt") == "one"
    assert not (tmp_path / "made").exists()


def test_small_files_of_the_system_are_copies_in_the_sandbox_and_mount_points_nowhere(
    scratch: Scratch,
) -> None:
    """A mount for each of them is a good part of what a start takes."""
    script = (
        "cut -d ' ' -f 5 /proc/self/mountinfo > mounts.txt; cat /etc/passwd > passwd.txt; ls /etc > etc.txt"
    )
    scratch.graph("  t: {goal: x}\n", script)
    scratch.interlock("run")
    mounts, inside = (scratch.git("show", f"main:{name}.txt").splitlines() for name in ("mounts", "etc"))
    assert "/usr" in mounts
    assert {"passwd", "group", "hosts", "nsswitch.conf"} <= set(inside)
    assert [path for path in mounts if path.startswith("/etc/") and Path(path).is_file()] == []
    assert "agent:x:1000:" in scratch.git("show", "main:passwd.txt"), "ours, not the machine's"


def test_neither_agents_nor_checks_reach_a_port_of_this_machine(scratch: Scratch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ours:
        ours.settimeout(0)
        port = ours.getsockname()[1]
        call = f"import socket; socket.create_connection((chr(49) + '27.0.0.1', {port}), 2)"
        scratch.write(call__py=call)
        scratch.graph(
            "  t: {goal: x}\n", "python3 call.py && exit 9; echo one > one.txt", verify="'! python3 call.py'"
        )
        scratch.interlock("run")
        with pytest.raises(BlockingIOError):
            ours.accept()
    assert scratch.states() == {"t": "done"}


def test_a_check_may_serve_itself_on_its_own_loopback(scratch: Scratch) -> None:
    """A5: tests that start a server are tests like any other, and two of them may use one port number."""
    scratch.write(
        serve__py="import socket\ns = socket.create_server(('127.0.0.1', 8080))\n"
        "socket.create_connection(s.getsockname(), 5)\n"
    )
    scratch.graph("  t: {goal: x}\n", "echo one > one.txt", verify="python3 serve.py")
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}


def test_an_agent_that_takes_too_much_memory_fails_and_that_is_the_reason(scratch: Scratch) -> None:
    if os.geteuid():
        pytest.skip("cgroups are usually root's")
    scratch.graph(
        "  t: {goal: x, retries: 0}\n",
        "exec python3 -c 'held = bytearray(1 << 31)'",
        verify="'true'",
    )
    scratch.interlock("run", code=1)
    (failed,) = scratch.facts("PhaseFailed")
    assert failed["fact"]["error"] == "resource-limit"
    assert failed["reason"]["code"] == "memory-limit"


def test_no_tracked_virtual_environment_shows_a_folder_of_the_host(scratch: Scratch, tmp_path: Path) -> None:
    """One that an agent lands, or that came with the clone, by its file or by its link."""
    other = tmp_path / "other"
    for folder in ("bin", "lib/python3.12"):
        (other / folder).mkdir(parents=True)
    for name in ("python", "python3"):
        (other / "bin" / name).write_text("#!/bin/sh\n")
        (other / "bin" / name).chmod(0o755)
    (other / "secret").write_text("private")
    (scratch.root / "z/bin").mkdir(parents=True)
    (scratch.root / "z/pyvenv.cfg").write_text("\n")
    (scratch.root / "z/bin/python3").symlink_to(other / "bin/python3")
    reads = f"cat '{other}/secret' /etc/shadow /etc/hostname > 'b.txt' 2>&1; true"
    lands = f"mkdir x y; echo home = /etc > x/pyvenv.cfg; echo home = '{other}/bin' > y/pyvenv.cfg"
    scratch.graph(
        "  a: {goal: x}\n  b: {goal: x, needs: [a]}\n",
        f"case $INTERLOCK_TASK_ID in a) {lands};; b) {reads};; esac",
    )
    scratch.interlock("run", "--only", "a")
    scratch.interlock("run")
    assert scratch.git("show", "main:y/pyvenv.cfg") == f"home = {other}/bin"
    assert scratch.git("show", "main:b.txt").count("No such file or directory") == 3
    rows = json.loads(scratch.interlock("doctor", "--no-checks", "--json"))["checks"]
    (row,) = [str(row) for row in rows if "git tracks files of" in str(row)]
    assert all(f"{scratch.root}/{name}" in row for name in "xyz")


def test_doctor_names_the_sandbox_its_toolchains_and_what_holds_the_limits(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n")
    said = scratch.interlock("doctor", code=None)
    rows = {line.split()[1]: line for line in said.splitlines() if line.startswith(("ok", "warning", "bad"))}
    assert "bubblewrap: works, tested just now with a program" in rows["sandbox"]
    assert str(scratch.gates) in rows["toolchains"]
    assert "memory 1 GiB" in rows["limits"]


def test_no_other_user_reads_what_a_run_leaves_whatever_the_umask(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n", verify="'true'")
    words = ("sh", "-c", 'umask 000; exec "$@"', "sh", *INTERLOCK, "run")
    subprocess.run(words, cwd=scratch.root, env=scratch.env, check=True, capture_output=True, timeout=120)
    state = scratch.root / ".git" / "interlock"
    assert state.stat().st_mode & 0o777 == 0o700
    left = [state / "log.db", *(state / "logs").rglob("*")]
    files = {path.name: path.stat().st_mode & 0o777 for path in left if path.is_file()}
    assert {Path(name).suffix for name in files} >= {".db", ".log", ".md"}
    assert {name for name, mode in files.items() if mode & 0o077} == set()


def test_the_reduced_sandbox_is_named_on_every_screen(scratch: Scratch, tmp_path: Path) -> None:
    (tmp_path / "reduced").mkdir()
    furnished(tmp_path / "reduced", "landlock")
    gate = scratch.gates / "go"
    scratch.write(interlock__toml='sandbox = "landlock"\n')
    scratch.graph("  t: {goal: x}\n", f"{WAIT.format(gate=gate)}; echo x > x.txt", verify="'true'")
    running = scratch.start("run")
    try:
        running.wait_for_line("t: implement started")
        during = {name: scratch.interlock(name, code=None) for name in ("status", "agents", "doctor")}
        told = json.loads(scratch.interlock("agents", "--json"))
    finally:
        gate.touch()
        running.wait()
        scratch.close()
    assert [name for name, text in during.items() if "reduced sandbox" not in text] == []
    assert told["sandbox"] == "landlock"
    first, _, last = running.output.partition("t: implement started")
    assert "reduced sandbox (landlock)" in first
    assert "reduced sandbox" in last, "the summary says it, too"
    assert "reduced sandbox" in scratch.interlock("status")
