"""`interlock errors`: one failure, one line, whoever has it (A6)."""

import pytest

from interlock.events.facts import LessonLearned, PhaseFailed, TaskFailed, TaskRetried
from interlock.model.claim import task_resource
from interlock.model.failure import symptom
from interlock.model.lesson import Lesson
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said
from interlock.model.task import Agent, TaskId
from tests.ui.conftest import Lab, task

CAUSE = "E   ModuleNotFoundError: No module named 'yaml'"


def fail(lab: Lab, name: str, output: str, error: ErrorClass = ErrorClass.CHECK, attempt: int = 1) -> None:
    """An attempt of a task ends so, and it is tried no more unless its model was the reason."""
    epoch = lab.start(name, attempt).epoch
    summary = f"`pytest tests/{name}` exited 1"
    key = TaskId(name)
    lab.write(PhaseFailed(key, attempt, "implement", epoch, error, said(summary), output, feedback=output))
    if error is ErrorClass.CHECK:
        lab.write(TaskFailed(key, attempt, said(summary)))
    lab.release(task_resource(name))


@pytest.fixture
def failing(lab: Lab) -> Lab:
    """Two tasks with one cause, one with another."""
    lab.accept(task("a"), task("b"), task("c"))
    fail(lab, "a", f"collected 3 items\n{CAUSE}\n1 failed")
    fail(lab, "b", f"{CAUSE}\nsomething else about b")
    fail(lab, "c", "fatal: no such table: orders")
    return lab


def test_the_same_failure_in_two_tasks_is_one_line_with_the_command_that_helps(failing: Lab) -> None:
    said = failing.run("errors").out
    assert said.count("ModuleNotFoundError") == 1
    assert "2 tasks, 2 times" in said
    assert "next: interlock retry a b" in said
    found = failing.run("errors", "--json").json
    assert [(one["tasks"], one["open"], one["times"]) for one in found] == [
        (["a", "b"], ["a", "b"], 2),
        (["c"], ["c"], 1),
    ]
    assert found[0]["first"] <= found[0]["last"]


def test_what_was_taken_out_to_compare_is_shown_as_it_was_printed_the_first_time(lab: Lab) -> None:
    lab.accept(task("a"), task("b"))
    fail(lab, "a", "app/db.py:31: OperationalError: no answer from 10.0.0.7 port 5433 after 30.5 s")
    fail(lab, "b", "app/jobs.py:7: OperationalError: no answer from 10.0.0.9 port 5434 after 31 s")
    said = lab.run("errors").out
    assert "OperationalError: no answer from # port # after <time>" in said
    assert "  in a: app/db.py:31: OperationalError: no answer from 10.0.0.7 port 5433 after 30.5 s" in said
    (found,) = lab.run("errors", "--json").json
    assert (found["tasks"], found["example"][:13]) == (["a", "b"], "app/db.py:31:")


def test_status_says_in_one_line_that_tasks_fail_alike(failing: Lab) -> None:
    lines = [line for line in failing.run("status").out.splitlines() if "have the same failure" in line]
    assert len(lines) == 1
    assert lines[0].startswith("2 tasks have the same failure (ModuleNotFoundError")
    assert lines[0].endswith("interlock errors")
    assert [one["tasks"] for one in failing.run("status", "--json").json["alike"]] == [["a", "b"]]


def test_what_fixed_it_is_said_and_what_every_task_is_past_is_out_of_the_way(failing: Lab) -> None:
    seen = symptom(ErrorClass.CHECK, None, CAUSE)
    for name in ("a", "b"):
        failing.write(TaskRetried(TaskId(name), "install it"))
        failing.land(name, name * 40)
    failing.write(LessonLearned(Lesson("77aa00bb", "m", "t", seen.id)))
    left = failing.run("errors")
    assert "ModuleNotFoundError" not in left.out
    assert "1 more failure that no task has any more: interlock errors --all" in left.err
    said = failing.run("errors", "--all").out
    assert said.count("resolved: ") == 1
    assert "resolved: a landed in attempt 1 after a person gave it new attempts; b landed in" in said
    found = failing.run("errors", "--all", "--json").json[1]
    assert found["past_it"][0] == "a landed in attempt 1 after a person gave it new attempts"
    assert (found["lesson"], found["open"]) == ("77aa00bb", [])


def test_one_failure_is_shown_with_every_time_it_happened(failing: Lab) -> None:
    name = failing.run("errors", "--json").json[0]["id"]
    said = failing.run("errors", name[:6]).out
    assert "a attempt 1, implement: `pytest tests/a` exited 1" in said
    assert "b attempt 1, implement: `pytest tests/b` exited 1" in said
    assert [case["task"] for case in failing.run("errors", name, "--json").json["cases"]] == ["a", "b"]
    unknown = failing.run("errors", "zzz")
    assert (unknown.code, "interlock errors --all" in unknown.err) == (2, True)


def test_waiting_for_a_model_is_one_line_for_its_provider_and_over_when_work_goes_on(lab: Lab) -> None:
    agent = Agent("claude", "claude-code", key_env="ANTHROPIC_API_KEY")
    for name in ("a", "b"):
        one = task(name)
        lab.accept(type(one)(one.id, one.goal, agent))
        fail(lab, name, "HTTP 429: slow down", ErrorClass.RATE_LIMIT)
    fail(lab, "a", "HTTP 529: overloaded", ErrorClass.OVERLOADED, attempt=2)
    waits = lab.run("errors", "--json").json
    assert [(one["error"], one["tasks"], one["times"]) for one in waits] == [("wait", ["a", "b"], 3)]
    assert "api.anthropic.com ANTHROPIC_API_KEY" in waits[0]["what"]
    fail(lab, "a", "fatal: no such table", attempt=3)
    waits = [one for one in lab.run("errors", "--json").json if one["error"] == "wait"]
    assert (waits[0]["open"], waits[0]["past_it"]) == (["b"], ["a continued by itself"])


def test_without_a_failure_it_says_so(lab: Lab) -> None:
    lab.accept(task("a"))
    assert "no failures" in lab.run("errors").err
