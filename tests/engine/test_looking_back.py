"""`replay`, `what-if`, `plan --estimate` and the time to go, on a log that a real run has written (D9)."""

import json
from collections.abc import Iterator

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

CHAIN = "  a: {goal: a}\n  b: {goal: b}\n  c: {goal: c, needs: [a]}\n"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """A repository in which three tasks have landed; nobody here writes to its log."""
    scratch = Scratch(tmp_path_factory.mktemp("done") / "repository")
    scratch.graph(CHAIN, 'sleep 1; echo x > "$INTERLOCK_TASK_ID.txt"')
    scratch.interlock("run", "--max-parallel", "1")
    yield scratch
    scratch.close()


def test_a_run_can_be_seen_again_from_its_start_to_its_end(done: Scratch) -> None:
    """A19: the list of runs, one run, and any moment of it."""
    [run] = json.loads(done.interlock("replay", "--json"))
    assert run["ended"] == {"code": "at-rest", "text": "at rest"}
    assert (run["landed"], run["failed"], run["attempts"], run["slots"]) == (3, 0, 3, 1)
    told = done.interlock("replay", "last")
    assert [word for word in ("a: landed", "b: landed", "c: landed") if word not in told] == []
    assert len(done.interlock("replay", "1", "--json").splitlines()) == run["last"] - run["first"] + 1


def test_any_moment_shows_every_task_as_it_stood_with_the_causes_of_that_time(done: Scratch) -> None:
    facts = [json.loads(line) for line in done.interlock("events", "--json").splitlines()]
    start = next(fact["seq"] for fact in facts if fact["kind"] == "PhaseStarted")
    then = json.loads(done.interlock("replay", "last", "--at", str(start), "--json"))
    assert {task["id"]: task["state"] for task in then["tasks"]} == {
        "a": "running",
        "b": "waiting",
        "c": "waiting",
    }
    reasons = {task["id"]: task["reason"]["text"] for task in then["tasks"]}
    assert reasons["c"] == "waits for a (running)"
    assert "slot" in reasons["b"]
    assert "a has landed" not in done.interlock("replay", "last", "--at", str(start))


def test_a_moment_or_a_run_that_is_not_there_is_said_with_what_there_is(done: Scratch) -> None:
    assert "is not in this run" in done.interlock("replay", "last", "--at", "100000", code=2)
    assert "is not a moment of this run" in done.interlock("replay", "last", "--at", "noon", code=2)
    assert "interlock replay lists" in done.interlock("replay", "none", code=2)


def test_a_past_run_can_be_tried_with_other_numbers(done: Scratch) -> None:
    """D9: with two slots the two that need nothing run side by side."""
    cases = json.loads(done.interlock("what-if", "--max-parallel", "2", "--json"))["cases"]
    was, same, other = cases
    assert same["attempts"] == other["attempts"] == was["attempts"] == 3
    assert other["seconds_p50"] < same["seconds_p50"]
    assert 2 < same["seconds_p50"] < 600, "by the second that each slept, not by the default of ten minutes"
    assert [case["cost_usd"] for case in cases] == [None] * 3, "nobody said what an attempt costs"
    assert "no setting to change" in done.interlock("what-if", code=2)


def test_another_agent_is_judged_by_what_the_log_knows_of_it(done: Scratch) -> None:
    agent = json.loads(done.interlock("status", "--json"))["tasks"][0]["agent"]
    cases = json.loads(done.interlock("what-if", "--agent", agent, "--json"))["cases"]
    assert cases[2]["seconds_p90"] >= cases[2]["seconds_p50"] > 0
    assert cases[2]["seconds_p50"] < 600, "three one after the other: by the default it would be half an hour"
    assert [case["cost_usd"] for case in cases] == [None] * 3
    assert f"the log has 3 attempts of {agent}" in done.interlock("what-if", "--agent", agent)
    assert agent in done.interlock("what-if", "--agent", f"{agent}x", code=2)


def test_the_next_plan_is_estimated_from_what_was_seen(done: Scratch) -> None:
    """A8: the default estimate is ten minutes; the log says a second."""
    done.graph(CHAIN + "  d: {goal: d}\n  e: {goal: e, needs: [d]}\n", "true")
    estimate = json.loads(done.interlock("plan", "--estimate", "--json"))["estimate"]
    assert 0 < estimate["seconds_p50"] <= estimate["seconds_p90"]
    assert estimate["seconds_p50"] < 600
    assert estimate["evidence"] > 1
    assert "nine times in ten" in done.interlock("plan", "--estimate")


def test_a_plan_goes_by_the_number_of_agents_that_a_run_would_have(done: Scratch) -> None:
    """K1: a run without a number is `auto` once something has landed, and so is a plan."""
    done.graph(CHAIN + "  f: {goal: f}\n  g: {goal: g, needs: [f]}\n", "true")
    assert "at once (auto: the limit of the clutch now)" in done.interlock("plan")
    assert done.interlock("plan", "--max-parallel", "auto") == done.interlock("plan")
    assert "up to 2 at once;" in done.interlock("plan", "--max-parallel", "2")
    told = done.interlock("plan", "--estimate")
    assert 0 < told.index("by the log") < told.index("next: interlock run")


def test_before_anything_ran_an_estimate_says_that_it_is_a_guess(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: a, estimate: 5m}\n", "true")
    told = scratch.interlock("plan", "--estimate")
    assert "rough estimate" in told
    assert "cost           unknown" in told
