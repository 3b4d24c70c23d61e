"""Leases that tasks wait for, through the real command (K4; DESIGN 4)."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


BOTH = """
case "$INTERLOCK_TASK_ID" in
  holder) echo at-work; {wait}; mkdir -p db; echo holder > db/one ;;
  *) mkdir -p db; echo "$INTERLOCK_TASK_ID" > db/two ;;
esac
"""


def test_a_change_in_what_another_holds_alone_waits_for_it(scratch: Scratch, gate: Path) -> None:
    """K4: the drifting task expected to edit nothing there, so both are at work at once."""
    tasks = "  holder: {goal: x, exclusive: [db/**]}\n  drifter: {goal: y, touches: [docs/**]}\n"
    scratch.graph(tasks, BOTH.format(wait=WAIT.format(gate=gate)))
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("holder: implement started")
    scratch.wait_for_output("holder", "at-work")
    run.wait_for_line("drifter: change made")
    said = scratch.interlock("explain", "drifter")
    assert "drifter is waiting: edited db/two, and holder holds db/** alone; it lands after that" in said
    assert scratch.facts("CandidateBuilt", "Landed") == []
    gate.touch()
    assert run.wait() == 0
    assert [row["fact"]["task"] for row in scratch.facts("Landed")] == ["holder", "drifter"]
    assert scratch.git("show", "main:db/one", "main:db/two").split() == ["holder", "drifter"]


def test_waiting_for_a_lease_ends_with_its_timeout(scratch: Scratch, gate: Path) -> None:
    """K4, W2, D6: three slots are free, and neither starts while the first holds what it wants."""
    tasks = (
        "  a: {goal: x, uses: [db], exclusive: [docs/**]}\n"
        "  b: {goal: y, uses: [db], lease_timeout: 1s}\n"
        "  c: {goal: z, shared: [docs/**], lease_timeout: 1s}\n"
    )
    scratch.graph(tasks, f"{WAIT.format(gate=gate)}\necho done > $INTERLOCK_TASK_ID.txt")
    run = scratch.start("run", "--max-parallel", "3")
    for name, wanted in (("b", "db (uses)"), ("c", "docs/** (shared)")):
        run.wait_for_line(f"{name}: FAILED: its lease_timeout is over: wants {wanted}, held by a")
    gate.touch()
    assert run.wait() == 1
    assert scratch.states() == {"a": "done", "b": "failed", "c": "failed"}
    scratch.interlock("retry", "b", "c")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done", "c": "done"}
