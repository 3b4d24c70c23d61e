"""Tasks that a person adds beside the graph file: they run, and no graph file removes them."""

import json
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

WRITES = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'


def test_an_added_task_survives_runs_and_edits_of_the_graph(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Write, story: now}\n  old: {goal: Write}\n", WRITES)
    assert "next: interlock run" in scratch.interlock("add", "b", "Write", "b", "--needs", "a")
    said = json.loads(scratch.read("add", "c", "Write c", "--parent", "a", "--json"))
    assert (said["task"]["id"], said["origin"]["kind"], said["parent"]) == ("c", "person", "a")
    planned = scratch.interlock("plan", "--estimate")
    assert "task-graph.yaml: 2 tasks and 2 added tasks, 4 to do" in planned and "a -> b" in planned
    assert '"b"' in scratch.interlock("plan", "--format", "mermaid")
    for wrong in (("b", "again"), ("d", "x", "--needs", "nothing"), ("d", "x", "--touches", "/etc")):
        scratch.interlock("add", *wrong, code=2)
    scratch.interlock("run", "--story", "now", code=None)
    assert scratch.states() == {"a": "done", "old": "waiting", "b": "waiting", "c": "waiting"}

    scratch.graph("  a: {goal: Write, story: now}\n", WRITES)
    scratch.interlock("run", "--no-input")
    assert scratch.states() == {"a": "done", "b": "done", "c": "done"}
    assert "1 task and 2 added tasks, 0 to do\nno tasks left" in scratch.interlock("plan")
    assert [fact["fact"]["task"] for fact in scratch.facts("TaskRemoved")] == ["old"]
    shown = scratch.interlock("show", "c")
    assert "added by  " in shown
    assert "part of   a" in shown


def test_a_graph_with_the_id_of_an_added_task_is_refused(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Write}\n", WRITES)
    scratch.interlock("add", "fix", "What the person wants")
    scratch.graph("  a: {goal: Write}\n  fix: {goal: What the graph wants}\n", WRITES)
    said = scratch.interlock("run", "--no-input", code=2)
    assert "added another task with this id" in said and "interlock cancel fix" in said
    assert "What the person wants" in scratch.interlock("show", "fix")
    scratch.interlock("cancel", "fix")
    scratch.interlock("run", "--no-input", code=1)
    assert "What the graph wants" in scratch.interlock("show", "fix")
    assert scratch.states() == {"a": "done", "fix": "cancelled"}  # until `interlock retry fix`


def test_a_run_that_is_going_on_takes_an_added_task_up(scratch: Scratch, gate: Path) -> None:
    scratch.graph("  a: {goal: Write}\n", f"{WAIT.format(gate=gate)}\n{WRITES}")
    run = scratch.start("run", "--no-input")
    run.wait_for_line("a: implement started")
    assert "the active run takes it up" in scratch.interlock("add", "b", "Write b")
    run.wait_for_line("b: implement started")
    gate.touch()
    assert run.wait() == 0, run.output
    assert scratch.states() == {"a": "done", "b": "done"}
