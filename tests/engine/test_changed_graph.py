"""The task graph is edited while a run goes on: through the real command."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


def edit(scratch: Scratch, old: str, new: str) -> None:
    """What a person saves in an editor. It is never committed here: that is not needed."""
    path = scratch.root / "task-graph.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def waiting(gate: Path) -> str:
    """An agent of which the task `a` waits for the gate."""
    return (
        f"if test $INTERLOCK_TASK_ID = a; then\n{WAIT.format(gate=gate)}\nfi\necho x > $INTERLOCK_TASK_ID.txt"
    )


def test_new_tasks_start_and_waiting_ones_go(scratch: Scratch, gate: Path) -> None:
    scratch.graph("  a: {goal: x}\n  b: {goal: x, needs: [a]}\n", waiting(gate))
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    edit(scratch, "  b: {goal: x, needs: [a]}\n", "  c: {goal: x}\n")
    run.wait_for_line("task-graph.yaml changed: new: c; removed: b")
    run.wait_for_line("c: landed")
    gate.touch()
    assert run.wait() == 0
    assert scratch.states() == {"a": "done", "c": "done"}


def test_a_broken_graph_is_reported_once_and_the_last_good_one_holds(scratch: Scratch, gate: Path) -> None:
    scratch.graph("  a: {goal: x}\n", waiting(gate))
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    edit(scratch, "  a: {goal: x}\n", "  a: {gaol: x}\n")
    run.wait_for_line(
        "task-graph.yaml:8:3: error: `a` has no `goal`; the run continues with the last valid graph"
    )
    edit(scratch, "  a: {gaol: x}\n", "  a: {goal: x}\n  d: {goal: x}\n")
    run.wait_for_line("task-graph.yaml changed: new: d")
    gate.touch()
    assert run.output.count("error: ") == 1
    assert scratch.states() == {"a": "done", "d": "done"}


def test_a_changed_goal_counts_for_the_next_attempt(scratch: Scratch, gate: Path) -> None:
    agent = (
        'if grep -q "the new goal" "$INTERLOCK_PROMPT_FILE"; then echo new > goal.txt; else\n'
        f"{WAIT.format(gate=gate)}\nexit 1; fi"
    )
    scratch.graph("  a: {goal: the old goal}\n", agent)
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    edit(scratch, "the old goal", "the new goal")
    run.wait_for_line("task-graph.yaml changed: changed: a")
    gate.touch()
    assert run.wait() == 0
    assert scratch.git("show", "main:goal.txt") == "new"


def test_a_task_that_was_begun_goes_on_though_its_lines_are_gone(scratch: Scratch, gate: Path) -> None:
    scratch.graph("  a: {goal: x}\n  b: {goal: x, needs: [a]}\n", waiting(gate))
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    edit(scratch, "  a: {goal: x}\n  b: {goal: x, needs: [a]}\n", "  b: {goal: x}\n")
    run.wait_for_line("To cancel it: interlock cancel a")
    run.wait_for_line("b: landed")
    gate.touch()
    assert run.wait() == 0
    assert scratch.git("show", "main:a.txt") == "x"
