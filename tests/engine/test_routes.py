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


CARRIED = """version: 1
defaults: {agent: [cheap, strong]}
agents:
  cheap: {use: command, run: [sh, -c, 'echo 1 > one.txt; rm -f old.txt']}
  strong: {use: command, run: [sh, -c, 'test -f one.txt && test ! -f old.txt && echo 2 > two.txt']}
tasks:
  both: {goal: Write both, done_when: "test -f one.txt && test -f two.txt"}
"""


def test_the_next_agent_begins_with_the_files_of_the_change_that_the_checks_refused(scratch: Scratch) -> None:
    scratch.write(old__txt="old", **{"task-graph__yaml": CARRIED})
    scratch.commit("work to do")
    scratch.interlock("run")
    rows = [row["fact"] for row in scratch.facts("PhaseStarted")]
    assert [fact["agent"] for fact in rows if fact["phase"] == "implement"] == ["cheap", "strong"]
    files = scratch.git("ls-tree", "--name-only", "main").split()
    assert {"one.txt", "two.txt"} <= set(files) and "old.txt" not in files
    prompt = scratch.interlock("prompt", "both", "--attempt", "2")
    assert "Your workspace has its changes, on top of main: mend or replace them." in prompt
