"""`interlock queue` shows the changes on their way to main, and people change their order (D1, P4)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scratch import WAIT, Background, Scratch

pytestmark = pytest.mark.slow


def queue(scratch: Scratch) -> dict[str, tuple[str, list[str]]]:
    """Each change in its order: its state, and the changes that it is tested on top of."""
    rows = json.loads(scratch.interlock("queue", "--json"))["queue"]
    return {row["task"]: (row["state"], row["on"]) for row in rows}


def started(scratch: Scratch, gate: Path) -> Background:
    """A run in which a is checked, b is tested early on top of it, and c waits, until the gate opens."""
    check = f"if ls *.txt; then {WAIT.format(gate=gate)}; fi"
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n  c: {goal: c}\n", AGENT, verify=json.dumps(check))
    run = scratch.start("run")
    for name in "abc":
        run.wait_for_line(f"{name}: change made")
    facts = scratch.start("events", "--follow", "--json")
    facts.wait_for_line('"kind":"BuildStarted"')
    return run


AGENT = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'


def test_it_shows_what_is_checked_what_is_tested_early_and_what_waits(scratch: Scratch, gate: Path) -> None:
    run = started(scratch, gate)
    first, second, third = found = queue(scratch)
    assert found == {first: ("checking", []), second: ("building", [first]), third: ("waiting", [])}
    said = scratch.interlock("queue")
    assert f"2. {second}  building: its checks run early, on top of {first} (queued)" in said
    gate.touch()
    assert run.wait() == 0, run.output
    assert queue(scratch) == {}


def test_a_change_that_is_bumped_goes_first_and_one_that_is_held_or_dropped_lets_the_others_by(
    scratch: Scratch, gate: Path
) -> None:
    run = started(scratch, gate)
    first, second, third = queue(scratch)
    assert f"{third} is first in the queue" in scratch.interlock("queue", "bump", third)
    assert list(queue(scratch)) == [third, first, second]
    scratch.interlock("queue", "hold", second, "-m", "not yet")
    assert queue(scratch)[second] == ("held", [])
    scratch.interlock("queue", "drop", first)
    gate.touch()
    run.wait_for_line(f"{third}: landed")
    scratch.interlock("queue", "release", second)
    assert run.wait() in (0, 1), run.output
    assert scratch.states() == {first: "cancelled", second: "done", third: "done"}
    log = [fact["fact"]["task"] for fact in scratch.facts("Landed")]
    assert log == [third, second]
    assert "no finished change" in scratch.interlock("queue", "bump", first, code=2)


def test_a_task_that_is_held_before_it_has_a_change_says_what_does_not_happen(
    scratch: Scratch, gate: Path
) -> None:
    agent = f"test $INTERLOCK_TASK_ID != b || {{ {WAIT.format(gate=gate)}; }}\n{AGENT}"
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", agent)
    scratch.interlock("run", "--only", "a")
    said = scratch.interlock("queue", "hold", "b")
    assert "b is held: it has no finished change, and no agent starts on it until" in said
    assert "a person paused this task" in scratch.interlock("explain", "b")
    scratch.interlock("queue", "release", "b")
    run = scratch.start("run")
    run.wait_for_line("b: implement started")
    said = scratch.interlock("queue", "hold", "b")
    assert "b is held: its agent goes on, and its change does not land until" in said
    gate.touch()
    run.wait_for_line("b: change made")
    assert scratch.states()["b"] != "done"
    scratch.interlock("queue", "release", "b")
    assert run.wait() == 0, run.output


def test_a_change_that_was_sent_back_is_named_with_its_reason(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: a, retries: 0}\n", AGENT, verify='"test ! -e a.txt"')
    scratch.interlock("run", code=1)
    said = scratch.interlock("queue")
    assert "sent back  a (attempt 1): `test ! -e a.txt` exited 1 on the change merged onto main" in said


def rows(scratch: Scratch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(scratch.interlock("queue", "--json"))["queue"]
    return found


def test_each_change_shows_its_checks_and_how_likely_its_result_counts(scratch: Scratch, gate: Path) -> None:
    waits = f"if test -e a.txt && ! test -e b.txt; then {WAIT.format(gate=gate)}; fi"
    checks = ["test -n first", waits, "test -n last"]
    scratch.write(interlock__toml="land_together = false\n")  # else they land as one when b passed
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", AGENT, verify=json.dumps(checks))
    run = scratch.start("run", "--max-parallel", "1")
    run.wait_for_line("b: change made")
    scratch.start("events", "--follow", "--json").wait_for_line('"kind":"BuildEnded"')
    first, second = rows(scratch)
    assert (first["task"], first["state"], first["holds"]) == ("a", "checking", None)
    assert [check["state"] for check in first["checks"]] == ["ended", "running", "waiting"]
    assert [check["command"] for check in first["checks"]] == checks
    assert first["tree"] and first["base"] == scratch.git("rev-parse", "main")
    assert (second["task"], second["state"], second["on"]) == ("b", "built", ["a"])
    assert [check["state"] for check in second["checks"]] == ["passed"] * 3
    assert all(check["log"] for check in second["checks"])
    assert 0.5 < second["holds"] <= 1
    said = scratch.interlock("queue")
    assert f"`test -n first` ended; `{waits[:40]}" in said
    assert "likely to count" in said
    gate.touch()
    assert run.wait() == 0, run.output


def test_a_dropped_change_is_named_with_the_reason_of_the_person(scratch: Scratch, gate: Path) -> None:
    run = started(scratch, gate)
    _, second, _ = queue(scratch)
    scratch.interlock("queue", "drop", second, "-m", "not wanted any more")
    assert f"dropped  {second} (attempt 1): not wanted any more" in scratch.interlock("queue")
    gate.touch()
    assert run.wait() in (0, 1), run.output
