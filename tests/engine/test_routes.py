"""Routes through the real command (A8): who gets a task, and what happens when the cheap agent fails."""

import json

import pytest

from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

GRAPH = """version: 1
defaults: {agent: strong, retries: 2}
agents:
  cheap: {use: command, run: [sh, -c, 'test $INTERLOCK_TASK_ID != hard && echo x > $INTERLOCK_TASK_ID.md']}
  strong: {use: command, run: [sh, -c, 'echo y > $INTERLOCK_TASK_ID.md']}
routes:
  - {when: "category == 'docs' and complexity <= 2", try: [cheap, strong]}
tasks:
  easy: {goal: Write it, category: docs, complexity: low}
  hard: {goal: Write it too, category: docs, complexity: medium}
  code: {goal: Do it, category: code}
"""


def test_tasks_go_where_their_route_says_and_on_to_the_next_agent_after_a_failure(scratch: Scratch) -> None:
    scratch.write(**{"task-graph__yaml": GRAPH})
    scratch.commit("work to do")
    scratch.interlock("run")
    rows = [row["fact"] for row in scratch.facts("PhaseStarted")]
    tried = [(fact["task"], fact["agent"]) for fact in rows if fact["phase"] == "implement"]
    assert sorted(tried) == [
        ("code", "strong"),
        ("easy", "cheap"),
        ("hard", "cheap"),
        ("hard", "strong"),
    ]
    said = scratch.interlock("route", "hard")
    assert said.startswith("hard would go to strong: cheap failed at it in attempt 1")
    assert "agents named by routes[0]: category == 'docs' and complexity <= 2" in said
    found = json.loads(scratch.interlock("route", "code", "--json"))
    assert (found["agent"], found["route"], found["why"]) == (
        "strong",
        None,
        "the only agent that could have it",
    )
    assert [option["agent"] for option in found["options"]] == ["strong"]
    added = json.loads(scratch.interlock("add", "more", "Write more", "--json"))
    assert added
