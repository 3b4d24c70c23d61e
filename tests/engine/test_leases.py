"""The order of starts where tasks queue for a lease, through the real command (K4; DESIGN 4)."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


def test_a_run_begins_with_the_queue_for_a_lease_and_says_why(scratch: Scratch, gate: Path) -> None:
    queue = "".join(f"  queued-{n}: {{goal: x, uses: [db], estimate: 100s}}\n" for n in range(3))
    long = "".join(f"  long-{n}: {{goal: x, estimate: 150s}}\n" for n in range(2))
    scratch.graph(long + queue, f"{WAIT.format(gate=gate)}\necho done > $INTERLOCK_TASK_ID.txt")
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("queued-0: implement started")  # by chains alone both long ones would go first
    assert "of work and queues for leases behind it" in scratch.interlock("explain", "queued-0")
    gate.touch()
    assert run.wait() == 0
    starts = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
    assert "queued-0" in {start["task"] for start in starts[:2]}
    assert len(starts) == 5
