"""Values of leases, in agents and checks, through the real command (D6, FIELD 9)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


def with_leases(scratch: Scratch, leases: str, tasks: str, agent: str, **defaults: str) -> None:
    """A graph whose agents may lease these."""
    scratch.graph(tasks, agent, **defaults)
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text().replace("tasks:\n", f"leases: {leases}\ntasks:\n"))
    scratch.commit("leases")


def values(scratch: Scratch, phase: str) -> dict[str, dict[str, str]]:
    """The values that each task had last in a phase."""
    facts = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == phase]
    return {fact["task"]: {each["name"]: each["value"] for each in fact.get("leased", ())} for fact in facts}


def test_twenty_attempts_at_once_share_no_port_and_their_checks_see_the_same(
    scratch: Scratch, gate: Path
) -> None:
    names = [f"t{number:02}" for number in range(20)]
    tasks = "".join(
        f"  {name}: {{goal: x, uses: ['port:web'], done_when: 'test $PORT_WEB = $(cat {name}.txt)'}}\n"
        for name in names
    )
    agent = f'{WAIT.format(gate=gate)}\necho "$PORT_WEB" > "$INTERLOCK_TASK_ID.txt"'
    with_leases(scratch, "{port: {range: 3000-3030}}", tasks, agent)
    run = scratch.start("run", "--max-parallel", "20")
    for name in names:
        run.wait_for_line(f"{name}: implement started")
    (lease,) = scratch.status()["leases"]
    assert lease["count"] == 31
    assert len({holder["value"] for holder in lease["holders"]}) == 20
    gate.touch()
    scratch.interlock("wait")  # twenty landings may take longer than `Background.wait` has patience
    assert run.wait() == 0
    written = {name: scratch.git("show", f"main:{name}.txt") for name in names}
    assert len(set(written.values())) == 20
    expected = {name: {"port:web": value} for name, value in written.items()}
    assert values(scratch, "implement") == values(scratch, "verify") == expected
    assert scratch.status()["leases"][0]["holders"] == []


def test_a_task_waits_while_others_have_all_there_are_and_people_see_who(
    scratch: Scratch, gate: Path
) -> None:
    tasks = "".join(f"  {name}: {{goal: x, uses: [gpu]}}\n" for name in "abc")
    with_leases(
        scratch, "{gpu: {count: 2}}", tasks, f"{WAIT.format(gate=gate)}\necho $GPU > $INTERLOCK_TASK_ID"
    )
    run = scratch.start("run", "--max-parallel", "3")
    run.wait_for_line("a: implement started")
    run.wait_for_line("b: implement started")
    assert "lease gpu: 2 of 2 (a has 0, b has 1)" in scratch.read("status")
    assert "c is waiting: wants gpu (leases), held by a, b" in scratch.read("explain", "c")
    assert "holds gpu (GPU=1)" in scratch.read("explain", "b")
    gate.touch()
    assert run.wait() == 0
    assert scratch.git("show", "main:a", "main:b").split() == ["0", "1"]


def test_checks_of_the_project_have_values_on_main_too_and_their_results_are_reused(scratch: Scratch) -> None:
    """The key of a result has the names of the variables. Their values decide nothing."""
    task = """  a: {goal: x, done_when: 'test "$PORT" -ge 4000'}\n"""
    with_leases(scratch, "{port: {range: 4000-4009}}", task, "true", uses="[port]")
    scratch.interlock("run")
    (tried,) = [row["fact"]["result"] for row in scratch.facts("BaseChecked")]
    assert tried["environment"].endswith(" PORT")
    (nothing,) = [row["fact"] for row in scratch.facts("NoChangeNeeded")]
    assert [(found["exit_code"], found["reused"]) for found in nothing["checks"]] == [(0, True)]


def test_what_a_killed_run_held_is_free_for_the_next(scratch: Scratch, gate: Path) -> None:
    tasks = "  a: {goal: x, uses: [slot]}\n  b: {goal: y, uses: [slot], needs: []}\n"
    with_leases(
        scratch, "{slot: {}}", tasks, f"echo up; {WAIT.format(gate=gate)}\necho $SLOT > $INTERLOCK_TASK_ID"
    )
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "up")
    run.close()
    gate.touch()
    scratch.interlock("run", "--max-parallel", "2")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert scratch.status()["leases"][0]["holders"] == []
    started = [row["fact"] for row in scratch.facts("PhaseStarted") if row["fact"]["phase"] == "implement"]
    assert sorted(fact["task"] for fact in started) == ["a", "a", "b"]
    assert {fact["leased"][0]["value"] for fact in started} == {"0"}


def test_the_plan_counts_leases(scratch: Scratch) -> None:
    tasks = "".join(f"  {name}: {{goal: x, uses: [gpu], estimate: 10m}}\n" for name in "abcd")
    with_leases(scratch, "{gpu: {count: 2}}", tasks, "true")
    found: dict[str, Any] = json.loads(scratch.read("plan", "--json", "--max-parallel", "4"))
    assert found["analysis"]["makespan_seconds"] == found["analysis"]["lower_bound_seconds"] == 1200
    assert found["graph"]["leases"] == [{"name": "gpu", "count": 2, "first": 0, "template": ""}]
    scratch.interlock("plan", code=0)
