"""What a run took is what the next one expects and goes by: A8, K1, through the real command and real git."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

PACED = 'case "$INTERLOCK_TASK_ID" in slow*) {wait};; esac; echo x > "$INTERLOCK_TASK_ID.txt"'


def forecasts(scratch: Scratch, task: str) -> list[dict[str, Any]]:  # Any: parsed JSON
    """What was expected of a task, oldest first."""
    facts = [row["fact"] for row in scratch.facts("TaskEstimated")]
    return [fact["forecast"] for fact in facts if fact["task"] == task]


def tasks(*lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines)


def test_the_second_run_expects_what_the_first_took_and_starts_the_longer_work_first(
    scratch: Scratch, gate: Path
) -> None:
    """The slow ones last until all of the quick ones have landed, however long that takes here."""
    agent = PACED.format(wait=WAIT.format(gate=gate))
    first = [f"{kind}-{n}: {{goal: Do, category: {kind}}}" for kind in ("slow", "quick") for n in (1, 2, 3)]
    scratch.graph(tasks(*first), agent=agent)
    run = scratch.start("run", "--max-parallel", "6")
    for number in (1, 2, 3):
        run.wait_for_line(f"quick-{number}: landed")
    gate.touch()
    assert run.wait() == 0
    for name in ("slow-1", "quick-1"):
        assert (forecasts(scratch, name)[0]["seconds"], forecasts(scratch, name)[0]["evidence"]) == (60, 0)
    # `another` is first by its place in the graph and by its name, `slow-4` by what the first run took.
    more = ("another: {goal: Do, category: quick}", "slow-4: {goal: Do, category: slow}")
    scratch.graph(tasks(*first, *more), agent=agent)
    scratch.interlock("run", "--max-parallel", "1")
    quick, slow = forecasts(scratch, "another")[0], forecasts(scratch, "slow-4")[0]
    assert quick["seconds"] < slow["seconds"]
    assert slow["evidence"] == pytest.approx(3 * 0.98)
    assert "from 3 attempts" in scratch.interlock("show", "slow-4")
    started = [row["fact"]["task"] for row in scratch.facts("PhaseStarted")]
    assert started.index("slow-4") < started.index("another")


@pytest.mark.thorough
def test_a_written_estimate_stands_and_without_one_such_work_takes_what_it_took(
    scratch: Scratch, gate: Path
) -> None:
    """Four tasks without an estimate took a moment: that says nothing about what people write."""
    first = [f"quick-{n}: {{goal: Do, category: docs}}" for n in range(4)]
    wait = f'case "$INTERLOCK_TASK_ID" in quick-0) {WAIT.format(gate=gate)};; esac; '
    scratch.graph(tasks(*first), agent=f'{wait}echo x > "$INTERLOCK_TASK_ID.txt"')
    run = scratch.start("run", "--max-parallel", "1")
    run.wait_for_line("quick-0: implement started")
    assert "time left unknown" in scratch.interlock("status")
    assert scratch.status()["run"]["seconds_to_go"] is None
    gate.touch()
    assert run.wait() == 0
    more = ("said: {goal: Do, category: docs, estimate: 55s}", "unsaid: {goal: Do, category: docs}")
    scratch.graph(tasks(*first, *more))
    scratch.interlock("run")
    assert forecasts(scratch, "said")[0]["seconds"] == pytest.approx(55.0)
    took = [row["fact"]["seconds"] for row in scratch.facts("WorkFinished")][:4]
    assert min(took) <= forecasts(scratch, "unsaid")[0]["seconds"] <= max(took)
