"""Agents that rightly change nothing do not fail, through the real command (D7)."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.tiers import rest_thorough

pytestmark = pytest.mark.slow

LOOKS = 'echo "It is all there already."'


def test_a_task_whose_checks_are_green_on_main_is_done_without_a_landing(scratch: Scratch) -> None:
    scratch.write(hello="hello\n")
    scratch.graph(
        "  a: {goal: Write hello, done_when: [test -e hello]}\n  b: {goal: More, needs: [a]}\n",
        'test "$INTERLOCK_TASK_ID" = a || echo more > more.txt; ' + LOOKS,
        retries="0",
    )
    out = scratch.interlock("run")
    assert "a: no changes; checking main as it is" in out
    assert "a: done, nothing to change" in out
    assert [row["fact"]["task"] for row in scratch.facts("Landed")] == ["b"]
    (found,) = scratch.facts("NoChangeNeeded")
    assert [check["command"] for check in found["fact"]["checks"]] == ["test -e hello"]
    row = next(row for row in scratch.status()["tasks"] if row["id"] == "a")
    assert (row["state"], row["evidence"]["grade"], row["landed_commit"]) == ("done", "verified", None)
    assert "nothing to change; its checks pass on main as it is" in row["reason"]["text"]
    scratch.interlock("run")  # and it stays done


def test_an_agent_that_changes_nothing_where_its_checks_are_red_has_failed(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Write hello, done_when: [test -e hello]}\n", LOOKS, retries="1")
    scratch.interlock("run", code=1)
    failed = scratch.facts("PhaseFailed")
    assert failed[0]["reason"]["text"].startswith("the agent changed nothing, and `test -e hello` exited 1")
    assert "It is all there already." in scratch.interlock("prompt", "a", "--attempt", "2")


def test_a_worker_without_checks_that_changes_nothing_has_failed_in_its_own_words(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Write hello}\n", LOOKS, retries="0")
    scratch.interlock("run", code=1)
    (failed,) = scratch.facts("PhaseFailed")
    assert failed["fact"]["error"] == "no-change"
    assert "It is all there already." in failed["fact"]["feedback"]


def test_a_critic_that_changes_nothing_is_done_and_that_is_only_claimed(scratch: Scratch) -> None:
    scratch.write(
        agent__sh=LOOKS + "\n",
        **{
            "task-graph__yaml": "version: 1\ndefaults: {agent: looks}\n"
            "agents:\n  looks: {use: command, run: [sh, agent.sh], roles: [critic]}\n"
            "tasks:\n  review: {goal: Look at it, role: critic}\n"
        },
    )
    scratch.commit()
    scratch.interlock("run")
    (row,) = scratch.status()["tasks"]
    assert (row["state"], row["evidence"]["grade"]) == ("done", "claimed")
    assert "nothing to change" in scratch.interlock("status")


@pytest.mark.parametrize("depth", rest_thorough([1, 2], always=[2]))
def test_an_edit_that_another_task_has_landed_is_done_without_an_empty_commit(
    scratch: Scratch, gate: Path, depth: int
) -> None:
    scratch.write(interlock__toml=f"lane_depth = {depth}\n")
    tasks = "  a: {goal: a}\n  b: {goal: b}\n  c: {goal: c, done_when: [test -e other]}\n"
    agent = f"{WAIT.format(gate=gate)}; echo same > same.txt"
    scratch.graph(tasks, agent, verify="test -e agent.sh", retries="0")
    run = scratch.start("run")
    for task in ("a", "b", "c"):
        run.wait_for_line(f"{task}: implement started")
    gate.touch()
    assert run.wait() == 1, run.output
    rows = {row["id"]: row for row in scratch.status()["tasks"]}
    (landed,) = [name for name in ("a", "b") if rows[name]["landed_commit"]]
    (other,) = {"a", "b"} - {landed}
    assert (rows[other]["state"], rows[other]["landed_commit"]) == ("done", None)
    assert "its change is already on main; its checks pass" in rows[other]["reason"]["text"]
    assert f"{other}: done, its change is already on main" in run.output
    assert f"{other}  done: its change is already on main" in scratch.interlock("show", other)
    (failed,) = scratch.facts("PhaseFailed")
    assert failed["fact"]["task"] == "c"
    assert scratch.git("log", "--format=%s", "main").splitlines() == [landed, "work to do"]
