"""The claim of a running task carries what it is doing, for people at other terminals."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.run.tree import until

pytestmark = pytest.mark.slow


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "repository")
    yield made
    made.close()


def test_status_in_another_terminal_tells_what_an_agent_said_last_and_which_check_runs(
    scratch: Scratch,
) -> None:
    worked, checked = scratch.gates / "worked", scratch.gates / "checked"
    check = f"test ! -e a.txt || {WAIT.format(gate=checked)}".replace('"', "")
    agent = f"echo reading the parser\n{WAIT.format(gate=worked)}\necho a > a.txt"
    scratch.write(interlock__toml='stale_after = "2s"\n')
    scratch.graph("  a: {goal: x}\n", agent, verify=f"'{check}'")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    until(lambda: "reading the parser" in scratch.read("status"))
    worked.touch()
    until(lambda: "checks with `test ! -e a.txt" in scratch.read("status"))
    checked.touch()
    assert run.wait() == 0, run.output
