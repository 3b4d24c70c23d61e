"""The controller is killed again and again: that is no fault of its tasks (whatever `retries` says)."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


@pytest.mark.thorough
def test_five_deaths_of_the_controller_fail_no_task(scratch: Scratch, gate: Path) -> None:
    scratch.graph("  a: {goal: x, retries: 0}\n", f"{WAIT.format(gate=gate)}\necho done > a.txt")
    for _ in range(5):
        run = scratch.start("run")
        run.wait_for_line("a: implement started")
        run.close()  # kill -9
    gate.touch()
    assert scratch.start("run").wait() == 0
    assert scratch.states() == {"a": "done"}
    lost = [row["fact"] for row in scratch.facts("PhaseLost")]
    assert [fact["retry_after_seconds"] for fact in lost] == [0.0, 0.0, 0.0, 0.0, 5.0]
    assert scratch.facts("TaskFailed") == []
