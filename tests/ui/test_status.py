"""`status`, `wait` and `interlock` alone: every state has a cause and a next command (T6, W14)."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from interlock.events.facts import (
    MainSeen,
    Paused,
    PhaseStarted,
    RunEnded,
    RunStarted,
    TaskAccepted,
    TaskCancelled,
)
from interlock.events.fold import apply
from interlock.events.state import State
from interlock.events.state_parts import RunState
from interlock.model.claim import CONTROLLER, Claim, Held, task_resource
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit, TaskId, Tree
from interlock.store.log import Head, rows_after
from interlock.ui.at_work import Watcher
from interlock.ui.cli.live import run_picture
from interlock.ui.queries.tasks import rows as status_rows
from interlock.ui.reading import Reading
from interlock.ui.words.run_lines import Telling
from tests.ui.conftest import Lab, git, task


def by_id(lab: Lab) -> dict[str, Any]:  # Any: rows as JSON
    return {row["id"]: row for row in lab.run("status", "--json").json["tasks"]}


def test_a_repository_without_a_log_looks_empty_and_stays_untouched(lab: Lab) -> None:
    result = lab.run("status", "--json")
    assert result.code == 0
    assert result.json["tasks"] == []
    assert not (lab.root / ".git/interlock").exists()


def test_each_task_has_its_state_reason_and_next_command(lab: Lab) -> None:
    lab.accept(task("done"), task("broken"), task("web", "broken"), task("busy"), task("later", "busy"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.land("done", "d" * 40)
    lab.fail("broken", "agent exited 1")
    lab.start("busy")
    rows = by_id(lab)
    assert (rows["done"]["state"], rows["done"]["landed_commit"]) == ("done", "d" * 40)
    assert (rows["broken"]["state"], rows["broken"]["next"]) == ("failed", "interlock retry broken")
    assert "agent exited 1" in rows["broken"]["reason"]["text"]
    assert (rows["busy"]["state"], rows["busy"]["next"]) == ("running", "interlock logs busy -f")
    assert rows["web"]["reason"]["code"] == "needs-failed"
    assert rows["later"]["waits_for"] == ["busy"]
    assert all(row["reason"] and row["next"] for row in rows.values())


def test_a_program_gets_the_reason_as_a_code_with_fields_and_its_sentence(lab: Lab) -> None:
    lab.accept(task("broken"), task("web", "broken"), task("late", "web"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.fail("broken", "agent exited 1")
    because = {"code": "said", "text": "agent exited 1"}
    text = "blocked by broken: it failed (agent exited 1)"
    fields = {"tasks": ["broken"], "direct": True, "fate": "failed", "cause": because}
    blocked = {"code": "needs-failed", **fields, "text": text}
    rows = by_id(lab)
    assert rows["web"]["reason"] == blocked
    assert rows["broken"]["reason"]["cause"] == because
    assert "why" not in rows["web"]
    assert lab.run("show", "web", "--json").json["task"]["reason"] == blocked
    first, *_ = lab.run("explain", "web", "--json").json["causes"]
    assert (first["text"], first["reason"]) == (f"web is waiting: {text}", blocked)
    (fact,) = [row for row in lab.run("events", "--json").lines if row["kind"] == "TaskFailed"]
    assert fact["reason"] == because


def test_the_document_counts_and_names_main_and_the_run(lab: Lab) -> None:
    lab.accept(task("a"), task("b"))
    lab.write(MainSeen("main", Commit("m" * 40), Tree("t")))
    lab.take_charge(RunStarted("host/1/x", "h", 1, 2))
    lab.start("a")
    status = lab.run("status", "--json").json
    assert status["running"] == 1
    assert status["counts"] == {
        "waiting": 1,
        "running": 1,
        "done": 0,
        "failed": 0,
        "cancelled": 0,
        "removed": 0,
    }
    assert status["main"] == {"branch": "main", "commit": "m" * 40, "red": [], "frozen": None}
    assert (status["run"]["id"], status["run"]["live"], status["run"]["limit"]) == ("host/1/x", True, 2)


@pytest.mark.parametrize(
    ("sandbox", "warning"), [("none", "NO SANDBOX"), ("landlock", "reduced sandbox"), ("bubblewrap", "")]
)
def test_less_than_the_full_sandbox_is_on_every_screen_first_of_all(
    lab: Lab, sandbox: str, warning: str
) -> None:
    lab.accept(task("a"))
    lab.take_charge(RunStarted("host/1/x", "h", 1, 2, None, sandbox))
    said = lab.run("status").out
    assert said.startswith(warning)
    assert ("sandbox" in said.lower()) is bool(warning)
    assert lab.run("status", "--json").json["run"]["sandbox"] == sandbox
    shown, state = StringIO(), State(run=RunState("r", "h", 1, 2, None, 0.0, sandbox=sandbox))
    Console(file=shown, width=200).print(run_picture(state, 0.0, Watcher(lab.root, lab.root), Telling()))
    assert ("sandbox" in shown.getvalue().lower()) is bool(warning)


def test_a_run_whose_lease_is_over_is_gone_and_its_tasks_say_so(lab: Lab) -> None:
    lab.accept(task("a"), task("b"))
    lab.take_charge(RunStarted("r", "h", 1, 3), seconds=-1.0)
    rows = by_id(lab)
    assert (rows["b"]["reason"]["code"], rows["b"]["next"]) == ("no-run", "interlock run")


def test_people_see_states_in_order_of_urgency(lab: Lab) -> None:
    lab.accept(task("a"), task("b"), task("c"))
    lab.fail("a", "no idea")
    lab.write(TaskCancelled(TaskId("c"), "not now"))
    out = lab.run("status").out
    assert out.index("failed (1)") < out.index("waiting (1)") < out.index("cancelled (1)")
    assert "interlock retry a" in out


def test_many_tasks_are_counted_unless_all_are_asked_for(lab: Lab) -> None:
    lab.accept(*(task(f"t{number:02}") for number in range(50)))
    assert "... and 10 more: interlock status --all" in lab.run("status").out
    assert "t49" in lab.run("status", "--all").out


def test_the_exit_code_tells_running_from_failed_from_done(lab: Lab) -> None:
    lab.accept(task("a"))
    assert lab.run("status", "--exit-code").code == 1
    lab.take_charge(RunStarted("r", "h", 1, 3))
    assert lab.run("status", "--exit-code").code == 8
    lab.land("a", "e" * 40)
    lab.write(RunEnded("r", Reason(Why.AT_REST)))
    lab.release(CONTROLLER)
    assert lab.run("status", "--exit-code").code == 0


def test_wait_gives_up_after_its_time_and_says_still_running(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    assert lab.run("wait", "--timeout", "0s").code == 8


def test_wait_without_a_run_answers_at_once(lab: Lab) -> None:
    lab.accept(task("a"))
    assert lab.run("wait").code == 1


def test_wait_refuses_a_time_it_cannot_read(lab: Lab) -> None:
    result = lab.run("wait", "--timeout", "soon")
    assert result.code == 2
    assert "90s" in result.err


def test_interlock_alone_names_the_next_command(lab: Lab) -> None:
    assert "next: interlock init" in lab.run().err
    (lab.root / "task-graph.yaml").write_text("version: 1\n")
    assert "next: interlock plan" in lab.run().err
    lab.accept(task("a"), task("b"))
    assert "next: interlock run" in lab.run().err
    lab.fail("a", "no idea")
    assert "next: interlock explain a" in lab.run().err
    lab.take_charge(RunStarted("r", "h", 1, 3))
    assert "next: interlock status -w" in lab.run().err


def test_a_pause_is_in_the_headline(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.write(Paused(None, "lunch"))
    result = lab.run()
    assert "paused: lunch" in result.out
    assert "next: interlock unpause" in result.err


def test_a_subfolder_and_a_linked_worktree_show_the_same_project(lab: Lab, tmp_path: Path) -> None:
    """T2: two checkouts cannot disagree, because neither holds the state."""
    lab.accept(task("a"))
    git(lab.root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "mine")
    (lab.root / "deep" / "down").mkdir(parents=True)
    for folder in (tmp_path / "linked", lab.root / "deep" / "down"):
        assert [row["id"] for row in Lab(folder, lab.capsys).run("status", "--json").json["tasks"]] == ["a"]
    assert not (tmp_path / "linked" / ".git/interlock").exists()


def test_a_running_task_shows_its_last_words_until_it_gives_no_sign_of_life() -> None:
    state = State()
    fold = [TaskAccepted(task("api")), PhaseStarted(TaskId("api"), 1, "implement", 1, "h", agent="coder")]
    for row in rows_after(Head(), 100.0, "test", fold):
        apply(state, row)

    def reason(note: str, renewed_seconds_ago: float) -> str:
        held = Held(Claim(task_resource("api"), 1, "h"), 300.0, note, renewed_seconds_ago)
        reading = Reading(state, 160.0, held, {held.claim.resource: held})
        return status_rows(reading)[0].text

    assert reason("", 5.0) == "implement by coder, attempt 1, for 1m"
    assert reason("writing \x1b[2Jmain.py", 5.0) == "implement by coder, attempt 1, for 1m: writing main.py"
    assert reason("writing main.py", 45.0) == "implement by coder, attempt 1, for 1m; no heartbeat for 45s"
