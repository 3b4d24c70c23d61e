"""Overlapping footprints through the real command: one overlap is ventured, another is waited for (D5)."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

WRITE = "echo $INTERLOCK_TASK_ID > log.txt"


def starts(scratch: Scratch) -> list[dict[str, Any]]:  # Any: parsed JSON
    rows = scratch.facts("PhaseStarted")
    return [row["fact"] for row in rows if row["fact"]["phase"] == "implement"]


def test_a_slot_that_would_idle_takes_an_overlap_and_the_log_counts_what_came_of_it(
    scratch: Scratch, gate: Path
) -> None:
    scratch.graph(
        "  a: {goal: x, touches: [log.txt]}\n  b: {goal: x, touches: [log.txt]}\n",
        f"{WAIT.format(gate=gate)}\n{WRITE}",
    )
    run = scratch.start("run", "--max-parallel", "2")
    for name in ("a", "b"):
        run.wait_for_line(f"{name}: implement started")
    assert "a slot is free and little rework is expected" in scratch.interlock("explain", "b")
    gate.touch()
    assert run.wait() == 0
    first, second, again = starts(scratch)
    assert (first["task"], first["beside"]) == ("a", [])
    assert (second["task"], [other["task"] for other in second["beside"]]) == ("b", ["a"])
    assert (second["why"]["code"], second["why"]["fields"]["tasks"]) == ("cheap-overlap", ["a"])
    assert second["why"]["fields"]["overlaps"] == 0, "a first guess"
    assert again["attempt"] == 2  # both wrote the same line, so the one that came second did it again


def test_a_slot_idles_when_two_tasks_have_so_much_in_common_that_they_would_conflict(
    scratch: Scratch, gate: Path
) -> None:
    files = ", ".join(f"part{number}.txt" for number in range(8))
    scratch.graph(
        f"  a: {{goal: x, touches: [{files}]}}\n  b: {{goal: x, touches: [{files}]}}\n",
        f"{WAIT.format(gate=gate)}\n{WRITE}",
    )
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("a: implement started")
    told = {task["id"]: task["reason"]["text"] for task in scratch.status()["tasks"]}
    assert "would edit part0.txt together with a" in told["b"]
    gate.touch()
    assert run.wait() == 0
    assert [(start["task"], start["attempt"]) for start in starts(scratch)] == [("a", 1), ("b", 1)]
