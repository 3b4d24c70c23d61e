"""Streams that are closed or cannot be written: commands work or say so, and a run goes on."""

import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import INTERLOCK, Scratch

pytestmark = pytest.mark.slow

CLOSED = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "a repository")
    made.graph("  a: {goal: x}\n")
    return made


def _in_shell(scratch: Scratch, words: str, redirected: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {words} {redirected}', "sh", *INTERLOCK],
        cwd=scratch.root,
        env=scratch.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_commands_work_with_closed_streams(scratch: Scratch) -> None:
    for redirected in CLOSED:
        assert _in_shell(scratch, "status", redirected).returncode == 0, redirected
        assert _in_shell(scratch, "nosuch", redirected).returncode == 2, redirected
    assert _in_shell(scratch, "run", CLOSED[-1]).returncode == 0
    assert scratch.states() == {"a": "done"}
    scratch.interlock("events", "--verify")


def test_output_that_cannot_be_written_is_told_on_stderr_and_a_run_goes_on(scratch: Scratch) -> None:
    ran = _in_shell(scratch, "run", "> /dev/full")
    assert ran.returncode == 7
    assert ran.stderr.count("the output cannot be written: No space left on device; the run goes on") == 1
    assert scratch.states() == {"a": "done"}

    for words in ("status", "status --json", "events --export -"):
        said = _in_shell(scratch, words, "> /dev/full")
        assert said.returncode == 7
        assert said.stderr.startswith("error: the output cannot be written: No space left on device\nhint: ")
        assert _in_shell(scratch, words, "> /dev/full 2>&1").returncode == 7
