"""What people do from another terminal becomes a fact, or a clear refusal (T6, D4)."""

import ast
import asyncio
from pathlib import Path

import pytest

from interlock.events.facts import (
    Paused,
    RunStarted,
    StopRequested,
    TaskCancelled,
    TaskReset,
    TaskRetried,
    Unpaused,
)
from interlock.model.claim import task_resource
from interlock.model.errors import StaleEpoch
from interlock.model.task import TaskId
from interlock.ui import cli
from tests.ui.conftest import Lab, task


def test_a_failed_task_is_retried_with_a_note_for_the_next_attempt(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "agent exited 1")
    result = lab.run("retry", "api", "-m", "mind the port")
    assert (result.code, result.out) == (0, "api starts again\nnext: interlock run\n")
    assert lab.facts()[-1] == TaskRetried(TaskId("api"), "mind the port")


@pytest.mark.parametrize(("word", "state"), [("retry", "running"), ("retry", "waiting"), ("retry", "done")])
def test_a_retry_that_would_change_nothing_says_what_to_do_instead(lab: Lab, word: str, state: str) -> None:
    lab.accept(task("api"))
    if state == "running":
        lab.start("api")
    if state == "done":
        lab.land("api", "d" * 40)
    before = len(lab.facts())
    result = lab.run(word, "api")
    assert result.code == 2
    assert "api" in result.err
    assert "hint: interlock show api" in result.err
    assert len(lab.facts()) == before


def test_reset_takes_a_running_task_from_its_holder(lab: Lab) -> None:
    lab.accept(task("api"))
    claim = lab.start("api")
    assert lab.run("reset", "api", "-m", "it hangs").code == 0
    assert lab.facts()[-1] == TaskReset(TaskId("api"), "it hangs")

    async def write_late() -> None:
        store = lab._open()
        try:
            await store.append([TaskRetried(TaskId("api"))], "late", [claim])
        finally:
            await store.close()

    with pytest.raises(StaleEpoch):
        asyncio.run(write_late())


def test_cancel_frees_the_task_and_names_who_waits_for_it(lab: Lab) -> None:
    lab.accept(task("db"), task("api", "db"))
    lab.start("db")
    result = lab.run("cancel", "db")
    assert "blocked: api (they need it)" in result.out
    assert lab.facts()[-1] == TaskCancelled(TaskId("db"))
    assert [row for row in held(lab) if row == task_resource("db")] == []


def held(lab: Lab) -> list[str]:
    async def look() -> list[str]:
        store = lab._open()
        try:
            return [row.claim.resource for row in await store.held()]
        finally:
            await store.close()

    return asyncio.run(look())


def test_cancel_all_asks_the_running_loop_to_stop_its_agents(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.take_charge(RunStarted("host/7/abc", "h", 1, 3))
    for word in ("--all", "abc", "host/7/abc"):
        assert lab.run("cancel", word).code == 0
        assert lab.facts()[-1] == StopRequested("host/7/abc", agents=True)


def test_why_a_whole_run_is_stopped_is_kept(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.take_charge(RunStarted("host/7/abc", "h", 1, 3))
    assert lab.run("cancel", "--all", "-m", "the office closes").code == 0
    assert lab.facts()[-1] == StopRequested("host/7/abc", agents=True, why="the office closes")
    assert "the office closes" in lab.run("events").out


def test_cancel_all_without_a_run_is_refused(lab: Lab) -> None:
    lab.accept(task("api"))
    assert lab.run("cancel", "--all").code == 2


def test_cancel_wants_to_know_what(lab: Lab) -> None:
    assert lab.run("cancel").code == 2
    assert lab.run("cancel", "api", "--all").code == 2


def test_all_tasks_are_checked_before_any_is_changed(lab: Lab) -> None:
    lab.accept(task("api"), task("web"))
    lab.fail("api", "no idea")
    before = len(lab.facts())
    assert lab.run("retry", "api", "web").code == 2
    assert len(lab.facts()) == before


def test_pause_and_unpause_the_project_and_a_task(lab: Lab) -> None:
    lab.accept(task("api"))
    assert lab.run("pause", "-m", "lunch").code == 0
    assert lab.facts()[-1] == Paused(None, "lunch")
    assert lab.run("unpause").code == 0
    assert lab.facts()[-1] == Unpaused(None)
    assert lab.run("pause", "ap").code == 0
    assert lab.facts()[-1] == Paused(TaskId("api"))
    assert lab.run("unpause").code == 2
    assert lab.run("unpause", "api").code == 0


def test_a_pause_of_what_is_over_is_refused(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "no idea")
    assert lab.run("pause", "api").code == 2


def test_an_id_may_be_its_beginning_as_long_as_one_fits(lab: Lab) -> None:
    lab.accept(task("user-model"), task("user-form"), task("login"))
    assert lab.run("pause", "log").out.startswith("login ")
    assert lab.run("pause", "form").code == 2
    both = lab.run("pause", "user")
    assert both.code == 2
    assert "user-model, user-form" in both.err
    wrong = lab.run("pause", "logni")
    assert (wrong.code, "did you mean `login`?" in wrong.err) == (2, True)


def test_programs_get_what_became_of_it(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "no idea")
    assert lab.run("retry", "api", "--json").json == {
        "tasks": [{"id": "api", "state": "waiting"}],
        "live": False,
    }


def test_only_actions_write_facts() -> None:
    """The API does what the commands do: a command that writes by itself would be left out."""
    folder = Path(cli.__file__).parent.parent
    opens = {"opening.py", "cli/prove/stage.py"}  # a moved state folder, and a write of no fact at all
    found = {
        str(path.relative_to(folder))
        for path in set(folder.rglob("*.py")) - set((folder / "actions").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Attribute) and call.attr in ("append", "restore", "revoke")
        if ast.unparse(call.value).split(".")[-1] in ("store", "Store")
    }
    assert found == opens
