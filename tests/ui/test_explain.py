"""`explain`, `show`, `diff`: why, with what evidence, and what changed (D9, W10, A19)."""

from typing import Any

import pytest

from interlock.events.facts import (
    CandidateStale,
    PhaseFailed,
    RunStarted,
    TaskCancelled,
    TaskRetried,
    WorkFinished,
    WorkspaceArchived,
)
from interlock.model.claim import task_resource
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import Reason, Why, said
from interlock.model.suite import Unable
from interlock.model.task import Commit, TaskId
from tests.ui.conftest import RED, Lab, task


def explain(lab: Lab, name: str) -> str:
    result = lab.run("explain", name)
    assert result.code == 0, result.err
    return result.out


def test_a_waiting_task_names_the_chain_of_tasks_it_waits_for(lab: Lab) -> None:
    lab.accept(task("db"), task("api", "db"), task("web", "api"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.start("db")
    lines = explain(lab, "web").splitlines()
    assert lines[0].startswith("web is waiting: ")
    assert lines[1].startswith("  api is waiting: ")
    assert lines[2].startswith("    db is running: implement by coder, attempt 1")
    assert lines[-1].startswith("next: ")


def test_a_task_behind_a_failed_one_leads_to_the_command_that_helps(lab: Lab) -> None:
    lab.accept(task("db"), task("api", "db"), task("web", "api"))
    lab.fail("db", "agent exited 1")
    text = explain(lab, "web")
    assert "db has failed: agent exited 1" in text
    assert text.rstrip().endswith("next: interlock retry db")


def test_a_running_task_says_why_it_was_started(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.start("api", why="next in order (priority 2)")
    text = explain(lab, "api")
    assert "started because: next in order (priority 2)" in text
    assert "next: interlock logs api -f" in text


def test_a_failed_task_shows_the_red_check_and_where_its_output_is(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "`make test` exited 2")
    text = explain(lab, "api")
    assert "attempt 1: implement failed" in text
    assert f"`make test` exited 2; output: {lab.root}/.git/interlock/logs/checks/2.log" in text


def test_a_change_that_is_red_only_with_another_names_the_cause_and_the_other(lab: Lab) -> None:
    """Only `interlock errors` had the line that says it."""
    lab.accept(task("old"), task("user"), task("renames"))
    lab.land("old", "c0")
    name, epoch = TaskId("user"), lab.start("user").epoch
    lab.write(WorkFinished(name, 1, "implement", epoch, commit=Commit("u1")))
    lab.release(task_resource("user"))
    lab.land("renames", "c1")
    epoch = lab.start("user", phase="verify").epoch
    why = said("`pytest` cannot run any more (exited 2)")
    output = "collecting\nImportError: cannot import name 'area' from 'shapes'\n1 error\n"
    failed = PhaseFailed(
        name, 1, "verify", epoch, ErrorClass.CHECK, why, "f1", feedback=output, checks=(RED,)
    )
    lab.write(failed)
    text = explain(lab, "user")
    assert "\n    cause: ImportError: cannot import name 'area' from 'shapes'\n" in text
    assert "\n    landed after the agent started: renames\n" in text


def test_paths_of_evidence_open_from_where_the_person_is(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were relative to the state folder, which nothing said."""
    lab.accept(task("api"))
    lab.fail("api", "`make test` exited 2")
    log = lab.root / ".git/interlock/logs/checks/2.log"
    log.parent.mkdir(parents=True)
    log.write_text("the output\n")
    monkeypatch.chdir(lab.root)
    words = " ".join(lab.run(name, "api").out for name in ("show", "explain")).split()
    named = [word for word in words if word.endswith("2.log")]
    assert named == [".git/interlock/logs/checks/2.log"] * 2


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"vanished": ("a", "b"), "fewer_passed": 2}, "did not pass tests that pass on main (a, b)"),
        ({"fewer_passed": 7}, "passed 7 fewer tests than main"),
        ({"unable": Unable.NO_TESTS}, "ran no tests"),
    ],
)
def test_a_check_that_is_refused_for_its_tests_did_not_exit_1(
    lab: Lab, found: dict[str, Any], said: str
) -> None:
    lab.accept(task("api"))
    lab.fail("api", "refused", CheckResult("make test", 1, **found))
    for command in ("show", "explain"):
        text = lab.run(command, "api").out
        assert f"`make test` {said}" in text
        assert "exit 1" not in text and "exited" not in text


def test_a_landed_task_tells_its_way_to_main(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.land("api", "d" * 40)
    text = explain(lab, "api")
    assert text.startswith(f"api landed as {'d' * 12}")
    assert text.index("attempt 1: landed in") < text.index("verify passed") < text.index("implement passed")


def test_each_step_of_the_way_names_the_facts_that_say_so(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.land("api", "d" * 40)
    kinds = {number: type(fact).__name__ for number, fact in enumerate(lab.facts(), start=1)}
    causes = lab.run("explain", "api", "--json").json["causes"]
    chain = [[kinds[number] for number in cause["facts"]] for cause in causes if cause["facts"]]
    assert chain == [
        ["PhaseStarted", "Landed"],
        ["PhaseStarted", "CandidatePassed"],
        ["PhaseStarted", "WorkFinished"],
    ]
    first = causes[1]["facts"]
    assert f"(facts {first[0]}, {first[1]})" in explain(lab, "api").splitlines()[1]


def test_what_people_did_is_part_of_the_story(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.write(TaskCancelled(TaskId("api"), "wrong idea"), TaskRetried(TaskId("api"), "better idea"))
    text = explain(lab, "api")
    assert "cancelled it: wrong idea" in text
    assert "retried it: better idea" in text


def test_a_commit_leads_to_the_attempt_that_made_it(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.land("api", "d" * 40)
    assert "made for api, attempt 1; it landed on main" in explain(lab, "d" * 40)
    assert f"it landed on main as {'d' * 12}" in explain(lab, "c" * 9)
    strange = lab.run("explain", "abcdef1")
    assert strange.code == 2
    assert "no attempt made a commit abcdef1" in strange.err


def test_programs_get_the_causes_with_their_depth(lab: Lab) -> None:
    lab.accept(task("db"), task("api", "db"))
    causes = lab.run("explain", "api", "--json").json["causes"]
    assert [cause["depth"] for cause in causes] == [0, 1, 1, 1, 0]
    assert causes[1]["task"] == "db"


def shown(lab: Lab, name: str) -> Any:  # Any: JSON
    return lab.run("show", name, "--json").json


def test_show_has_the_evidence_with_commands_exit_codes_and_logs(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.land("api", "d" * 40)
    phases = shown(lab, "api")["attempts"][0]["phases"]
    assert [(phase["phase"], phase["outcome"]) for phase in phases] == [
        ("implement", "passed"),
        ("verify", "passed"),
        ("land", "landed"),
    ]
    check = phases[1]["checks"][0]
    log = f"{lab.root}/.git/interlock/logs/checks/1.log"
    assert (check["command"], check["exit_code"], check["log"]) == ("make test", 0, log)
    text = lab.run("show", "api").out
    assert f"ok  `make test` exit 0, {log}" in text
    assert f"landed as {'d' * 40}" in text


def test_show_says_where_the_work_of_a_stopped_attempt_is_kept(lab: Lab) -> None:
    """D10: cancelled is not deleted."""
    lab.accept(task("api"))
    lab.start("api")
    lab.run("cancel", "api")
    lab.write(WorkspaceArchived(TaskId("api"), 1, "refs/interlock/archive/api/1", why=Reason(Why.STOPPED)))
    assert "kept as refs/interlock/archive/api/1" in lab.run("show", "api").out


def test_a_late_fact_changes_no_attempt(lab: Lab) -> None:
    lab.accept(task("api"))
    epoch = lab.start("api").epoch
    lab.run("reset", "api")
    lab.write(CandidateStale(TaskId("api"), 1, "implement", epoch, Commit("b"), Commit("m")))
    assert shown(lab, "api")["attempts"][0]["phases"][0]["outcome"] == "reset"


def test_diff_without_a_change_says_so(lab: Lab) -> None:
    lab.accept(task("api"))
    result = lab.run("diff", "api")
    assert (result.code, "api has no change yet" in result.err) == (2, True)
    lab.fail("api", "agent exited 1")
    assert "has no attempt 7" in lab.run("diff", "api", "--attempt", "7").err
