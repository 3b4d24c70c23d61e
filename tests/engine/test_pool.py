"""The pool through the real command: who gets a task, slots that are handed on, calls for programs."""

import json
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

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
    """MISSION A1, P2."""
    graph(scratch, f"{TWO}  a: {{goal: Make a, agent: [weak, strong]}}\n")
    scratch.interlock("run")
    starts = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
    assert [start["agent"] for start in starts] == ["weak", "strong"]
    assert "weak failed at it in attempt 1" in starts[1]["why"]
    assert "given to strong: weak failed at it in attempt 1" in scratch.interlock("explain", "a")
    assert "one of    weak, strong" in scratch.interlock("show", "a")
    assert scratch.status()["tasks"][0]["agent"] == "strong"


def test_a_task_goes_to_an_agent_that_can_do_what_it_requires(scratch: Scratch) -> None:
    """MISSION P2."""
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
    """MISSION P2."""
    graph(scratch, f"{TWO}  a: {{goal: Make a, agent: any, requires: [rust]}}\n")
    said = scratch.interlock("plan", code=2)
    assert "task-graph.yaml:8:44: error: `a` requires `rust`, which none of its agents has" in said
    problem = json.loads(scratch.interlock("plan", "--json", code=2))["error"]["problems"][0]
    assert problem["hint"] == "add `capabilities: [rust]` to an agent that is able to"
