"""The pool through the real command: who gets a task, slots that are handed on, calls for programs."""

import asyncio
import json
from pathlib import Path

import pytest

from interlock.engine.project import open_project
from interlock.model.task import TaskId
from tests.engine.scratch import GIVE_UP_SECONDS, WAIT, Scratch

pytestmark = pytest.mark.slow

MAKE = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'
TWO = f"""
version: 1
defaults: {{timeout: 60s}}
agents:
  weak: {{use: command, run: [sh, -c, "echo cannot; exit 3"], complexity: medium}}
  strong: {{use: command, run: [sh, -c, '{MAKE}'], capabilities: [sql]}}
tasks:
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "repository")


def graph(scratch: Scratch, text: str) -> None:
    scratch.write(**{"task-graph__yaml": text})
    scratch.commit("work to do")


def test_what_one_agent_fails_at_is_given_to_the_next_without_a_person(scratch: Scratch) -> None:
    """A1, P2."""
    graph(scratch, f"{TWO}  a: {{goal: Make a, agent: [weak, strong]}}\n")
    scratch.interlock("run")
    starts = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
    assert [start["agent"] for start in starts] == ["weak", "strong"]
    assert starts[1]["agent_why"]["code"] == "agent-failed"
    assert "given to strong: weak failed at it in attempt 1" in scratch.interlock("explain", "a")
    assert "one of    weak, strong" in scratch.interlock("show", "a")
    phase = json.loads(scratch.interlock("show", "a", "--json"))["attempts"][1]["phases"][0]
    assert phase["why"] == f"{phase['reason']['text']}; given to strong: {phase['agent_reason']['text']}"
    assert (phase["reason"]["code"], phase["agent_reason"]["agent"]) == ("next-in-order", "weak")
    assert scratch.status()["tasks"][0]["agent"] == "strong"


def test_a_task_goes_to_an_agent_that_can_do_what_it_requires(scratch: Scratch) -> None:
    """P2."""
    graph(
        scratch,
        f"{TWO}  a: {{goal: Make a, agent: any, requires: [sql]}}\n"
        "  b: {goal: Make b, agent: any, complexity: high}\n",
    )
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    agents = {row["fact"]["agent"] for row in scratch.facts("SessionOpened")}
    assert agents == {"strong"}


def test_plan_refuses_a_task_that_no_agent_can_have_and_names_what_is_missing(scratch: Scratch) -> None:
    """P2."""
    graph(scratch, f"{TWO}  a: {{goal: Make a, agent: any, requires: [rust]}}\n")
    said = scratch.interlock("plan", code=2)
    assert "task-graph.yaml:8:44: error: `a` requires `rust`, which none of its agents has" in said
    problem = json.loads(scratch.interlock("plan", "--json", code=2))["error"]["problems"][0]
    assert problem["hint"] == "add `capabilities: [rust]` to an agent that is able to"


def test_a_role_has_its_own_number_of_slots_and_leaves_the_others_free(scratch: Scratch) -> None:
    """P2."""
    gate = scratch.gates / "open"
    agent = f"{WAIT.format(gate=gate)}; {MAKE}"
    graph(
        scratch,
        "version: 1\ndefaults: {timeout: 60s, agent: both}\n"
        f"agents:\n  both: {{use: command, run: [sh, -c, '{agent}'], roles: [worker, critic]}}\n"
        "tasks:\n  c1: {goal: Judge, role: critic}\n  c2: {goal: Judge, role: critic}\n  w: {goal: Work}\n",
    )
    scratch.write(interlock__toml="max_parallel = 3\nslots = {critic = 1}\n")
    scratch.commit("slots")
    run = scratch.start("run")
    for name in ("c1", "w"):
        run.wait_for_line(f"{name}: implement started")
    states = {task["id"]: task for task in scratch.status()["tasks"]}
    assert {name: row["state"] for name, row in states.items()} == {
        "c1": "running",
        "w": "running",
        "c2": "waiting",
    }
    assert states["c2"]["reason"]["text"] == "the one slot for a critic is taken, by c1"
    slots = scratch.status()["pool"]["slots"]
    assert (slots["free"], slots["queue"]) == (1, 1)
    assert slots["roles"]["critic"] == {"limit": 1, "in_use": 1, "free": 0}
    gate.touch()
    assert run.wait() == 0


def test_critical_work_goes_first_when_a_slot_is_free(scratch: Scratch) -> None:
    """P1, P4."""
    gate = scratch.gates / "open"
    agent = f"if test $INTERLOCK_TASK_ID = c; then {WAIT.format(gate=gate)}; fi; {MAKE}"
    scratch.graph(
        "  a: {goal: x, priority: high}\n  b: {goal: x, priority: low}\n  c: {goal: x}\n"
        "  z: {goal: x, needs: [a], priority: critical}\n",
        agent,
    )
    run = scratch.start("run", "--max-parallel", "1")
    run.wait_for_line("a: landed")
    gate.touch()
    assert run.wait() == 0
    rows = scratch.facts("PhaseStarted", "AgentExited", "Landed")
    starts = [
        row["fact"] for row in rows if row["kind"] == "PhaseStarted" and row["fact"]["phase"] == "implement"
    ]
    assert [start["task"] for start in starts] == ["a", "c", "z", "b"]
    # The slot is handed on when its agent has ended, before what that made has landed.
    kinds = [
        (row["kind"], row["fact"]["task"]) for row in rows if row["fact"]["phase"] in ("implement", "land")
    ]
    assert (
        kinds.index(("AgentExited", "a")) < kinds.index(("PhaseStarted", "c")) < kinds.index(("Landed", "a"))
    )


def test_a_related_task_goes_to_the_agent_that_has_just_worked_on_its_story(scratch: Scratch) -> None:
    """P5: without the story, the first agent of the list gets it."""
    agents = "".join(f"  {name}: {{use: command, run: [sh, -c, '{MAKE}']}}\n" for name in ("one", "two"))
    graph(
        scratch,
        f"version: 1\nagents:\n{agents}tasks:\n  a: {{goal: x, agent: two, story: login}}\n"
        "  b: {goal: x, agent: [one, two], needs: [a]}\n"
        "  c: {goal: x, agent: [one, two], needs: [a], story: login}\n",
    )
    scratch.interlock("run", "--max-parallel", "1")
    starts = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
    assert {start["task"]: start["agent"] for start in starts} == {"a": "two", "b": "one", "c": "two"}
    assert starts[2]["agent_why"]["code"] == "same-story"


def test_the_slot_of_an_agent_that_is_killed_is_free_at_once(scratch: Scratch) -> None:
    """P1, A2, and W8: with one slot the tasks run one after the other."""
    scratch.graph(
        "  a: {goal: x, priority: high, retries: 0}\n  b: {goal: x}\n",
        f"test $INTERLOCK_TASK_ID = a && kill -9 $$; {MAKE}",
    )
    scratch.interlock("run", "--max-parallel", "1", code=1)
    assert scratch.states() == {"a": "failed", "b": "done"}
    starts = [row["fact"]["task"] for row in scratch.facts("PhaseStarted")]
    assert starts[:2] == ["a", "b"]
    assert scratch.status()["pool"]["slots"]["in_use"] == 0


def test_a_program_asks_for_the_free_slots_of_a_role_and_waits_for_given_tasks(scratch: Scratch) -> None:
    """W14."""
    gate = scratch.gates / "open"
    slow = f"if test $INTERLOCK_TASK_ID = b; then {WAIT.format(gate=gate)}; fi; {MAKE}"
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", slow)
    scratch.write(interlock__toml="slots = {worker = 2}\n")
    scratch.commit("slots")
    run = scratch.start("run", "--max-parallel", "3")
    run.wait_for_line("b: implement started")
    assert scratch.interlock("wait", "a", code=0)
    assert "b  " in scratch.interlock("wait", "a", "b", "--timeout", "0s", code=8)

    async def program() -> None:
        async with open_project(scratch.root) as project:
            assert await project.wait_for([TaskId("a")], GIVE_UP_SECONDS)
            assert not await project.wait_for([TaskId("b")], 0)
            assert (await project.free_slots(), await project.free_slots("worker")) == (2, 1)
            gate.touch()
            assert await project.wait_for([TaskId("b")], GIVE_UP_SECONDS)

    asyncio.run(program())
    assert run.wait() == 0
    assert json.loads(scratch.interlock("wait", "b", "--json"))["tasks"][0]["state"] == "done"


def test_waiting_for_a_task_that_failed_says_so(scratch: Scratch) -> None:
    """W14."""
    scratch.graph("  a: {goal: x, retries: 0}\n", "exit 1")
    scratch.interlock("run", code=1)
    assert "failed once" in scratch.interlock("wait", "a", code=1)


def test_a_role_that_does_not_exist_is_an_error_with_a_suggestion(scratch: Scratch) -> None:
    graph(scratch, f"{TWO}  a: {{goal: Make a, agent: strong}}\n")
    scratch.write(interlock__toml="slots = {critc = 1}\n")
    said = scratch.interlock("run", code=2)
    assert "interlock.toml:1: there is no role `critc`" in said
    assert "did you mean `critic`?" in said
    scratch.write(interlock__toml="slots = {critic = 0}\n")
    assert "at least 1 is needed" in scratch.interlock("run", code=2)
