"""Streams that are closed or cannot be written: commands work or say so, and a run goes on."""

import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import INTERLOCK, Scratch
from tests.tiers import rest_at_night

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


@pytest.mark.parametrize("redirected", rest_at_night(CLOSED, by_day=[">&-"]))
def test_commands_work_with_a_closed_stream(scratch: Scratch, redirected: str) -> None:
    assert _in_shell(scratch, "status", redirected).returncode == 0
    assert _in_shell(scratch, "nosuch", redirected).returncode == 2


def test_a_run_works_with_all_streams_closed(scratch: Scratch) -> None:
    assert _in_shell(scratch, "run", CLOSED[-1]).returncode == 0
    assert scratch.states() == {"a": "done"}
    scratch.interlock("events", "--verify")


def test_output_that_cannot_be_written_is_told_on_stderr_and_a_run_goes_on(scratch: Scratch) -> None:
    ran = _in_shell(scratch, "run", "> /dev/full")
    assert ran.returncode == 7
    assert ran.stderr.count("cannot write the output: No space left on device; the run continues") == 1
    assert scratch.states() == {"a": "done"}

    said = _in_shell(scratch, "status", "> /dev/full")
    assert said.returncode == 7
    assert said.stderr.startswith("error: cannot write the output: No space left on device\nhint: ")
    assert _in_shell(scratch, "events --export -", "> /dev/full 2>&1").returncode == 7
