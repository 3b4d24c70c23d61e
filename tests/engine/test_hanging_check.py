"""A check that hangs is ended long before its time limit, once it is known how long it usually takes."""

import pytest

from tests.engine.scratch import Scratch

AGENT = 'test "$INTERLOCK_TASK_ID" != hang || touch hang.txt; echo x > "$INTERLOCK_TASK_ID.txt"'
CHECK = '"if test -e hang.txt; then echo waits; tail -f /dev/null; fi"'
TASKS = "  one: {goal: a}\n  two: {goal: b, needs: [one]}\n  hang: {goal: c, needs: [two]}\n"


@pytest.mark.slow
def test_a_hanging_check_is_ended_and_the_reason_says_how_long_it_usually_takes(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_HANG_FACTOR", "1")
    monkeypatch.setenv("INTERLOCK_HANG_AFTER", "1s")
    scratch.graph(TASKS, AGENT, verify=CHECK, retries="0")
    said = scratch.interlock("run", code=1)
    assert scratch.states() == {"one": "done", "two": "done", "hang": "failed"}
    (red,) = scratch.facts("PhaseFailed")
    (check,) = red["fact"]["checks"]
    assert check["timed_out"]
    assert 0 < check["usual_seconds"] < 1 < check["seconds"] < 60
    assert "(usually 0." in red["reason"]["text"]
    assert "which was stopped after" in red["fact"]["feedback"]
    assert "hang: verify failed: `if test -e hang.txt" in said
    assert "(usually 0." in scratch.interlock("explain", "hang")
