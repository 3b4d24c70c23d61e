"""A disk that fills up during a run: said clearly, nothing lost, and the run goes on when there is room."""

import errno
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

AGENT = """\
echo work > "$INTERLOCK_TASK_ID.txt"
echo written
while ! test -e "{gate}"; do sleep 0.05; done
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    """A repository whose state folder is a small disk of its own."""
    made = Scratch(tmp_path / "repository")
    state = made.root / ".git/interlock"
    state.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m,nr_inodes=4096", "interlock-test", state],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield made
        made.close()
    finally:
        subprocess.run(["umount", "--lazy", state], check=True)


def fill(path: Path) -> None:
    """Take all the room there is, to the last byte."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    block = bytes(1 << 20)
    try:
        while block:
            try:
                os.write(file, block)
            except OSError as error:
                assert error.errno == errno.ENOSPC
                block = block[: len(block) // 2]
    finally:
        os.close(file)


def fill_with_names(path: Path) -> None:
    """Leave no inode for another file: a disk that is full in this way has space left."""
    path.mkdir()
    try:
        for number in itertools.count():
            (path / str(number)).touch()
    except OSError as error:
        assert error.errno == errno.ENOSPC


def empty(path: Path) -> None:
    """Make room again."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


both_ways = pytest.mark.parametrize("fill", [fill, fill_with_names])


def test_a_disk_that_fills_up_holds_the_run_up_and_loses_nothing(scratch: Scratch) -> None:
    gate, ballast = scratch.gates / "gate", scratch.root / ".git/interlock" / "ballast"
    scratch.graph("  a: {goal: x}\n  b: {goal: x, needs: [a]}\n", AGENT.format(gate=gate), verify="'true'")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "written")
    fill(ballast)
    gate.touch()
    run.wait_for_line("No space left on device")
    assert scratch.states()["a"] == "running"
    ballast.unlink()
    assert run.wait() == 0, run.output
    assert scratch.states() == {"a": "done", "b": "done"}
    assert [scratch.git("show", f"main:{name}.txt") for name in ("a", "b")] == ["work", "work"]
    assert [task["attempts"] for task in scratch.status()["tasks"]] == [1, 1], "no agent worked twice"
    assert scratch.facts("PhaseFailed", "PhaseLost", "TaskFailed") == []
    scratch.interlock("events", "--verify")


@pytest.mark.parametrize(
    ("fill", "trouble"), [(fill, "the disk is full"), (fill_with_names, "cannot import its work yet")]
)
def test_an_agent_that_fails_on_a_full_disk_uses_up_no_retry(
    fill: Callable[[Path], None], trouble: str, scratch: Scratch
) -> None:
    """The task failed for good, and stayed failed after the space was back."""
    gate, ballast = scratch.gates / "gate", scratch.root / ".git/interlock" / "ballast"
    agent = AGENT.format(gate=gate) + 'echo more > "more-$INTERLOCK_TASK_ID.txt" || exit 2\n'
    scratch.graph("  a: {goal: x, retries: 0}\n", agent, verify="'true'")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "written")
    fill(ballast)
    gate.touch()
    run.wait_for_line(trouble)  # said after the exit of the agent was judged
    empty(ballast)
    assert run.wait() == 0, run.output
    assert "a: implement postponed: the disk is full: " in run.output
    assert scratch.git("show", "main:more-a.txt") == "more"
    assert scratch.facts("PhaseFailed", "TaskFailed") == []


@both_ways
def test_a_check_that_fails_on_a_full_disk_is_run_again(
    fill: Callable[[Path], None], scratch: Scratch
) -> None:
    """The agent was told of a fault in its change."""
    gate, ballast = scratch.gates / "gate", scratch.root / ".git/interlock" / "ballast"
    os.mkfifo(gate)
    check = f"test ! -e new || test -e {scratch.gates}/once || read go < {gate} && echo > more"
    scratch.graph("  a: {goal: x, retries: 0}\n", "touch new", verify=json.dumps([check]))
    run = scratch.start("run")
    with gate.open("w") as opened:  # until the check reads from it
        fill(ballast)
        (scratch.gates / "once").touch()
        opened.write("go\n")
    run.wait_for_line("disk is full")
    empty(ballast)
    assert run.wait() == 0, run.output
    assert "a: verify postponed: the disk is full: " in run.output
    assert scratch.states() == {"a": "done"}
    assert scratch.facts("PhaseFailed", "TaskFailed") == []
