"""Which session an attempt goes on with, and when it gets a new one."""

from dataclasses import replace

import pytest

from interlock.events.state import TaskState
from interlock.model.outcome import ErrorClass, Order, Resume
from interlock.model.task import Commit, Task, TaskId
from interlock.train.sessions import afresh, carried, resumed
from tests.events.journal import AGENT, Journal, failed

CUT = Resume(1, "s1", Commit("old-main"))
ORDER = Order(TaskId("a"), 2, 1, Commit("old-main"), AGENT, "do it", "s2", 60, 60, CUT)


def cut_off(found: Resume | None = CUT) -> TaskState:
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.start("a")
    journal.task("a").session.cut_off = found
    return journal.task("a")


def test_the_same_agent_goes_on_if_its_program_can() -> None:
    assert resumed(cut_off(), AGENT, {AGENT.use}) == CUT
    assert resumed(cut_off(), AGENT, ()) is None
    assert resumed(cut_off(), replace(AGENT, name="another"), {AGENT.use}) is None
    assert resumed(cut_off(None), AGENT, {AGENT.use}) is None


def test_a_program_without_the_session_gets_a_new_one_in_the_same_place() -> None:
    again = afresh(ORDER, ErrorClass.EXIT, has_begun=False)
    assert again == replace(ORDER, resume=replace(CUT, session=""))
    assert afresh(again, ErrorClass.EXIT, has_begun=False) is None


@pytest.mark.parametrize(
    ("error", "has_begun"), [(None, False), (ErrorClass.TIMEOUT, False), (ErrorClass.EXIT, True)]
)
def test_any_other_end_is_the_end_of_the_attempt(error: ErrorClass | None, has_begun: bool) -> None:
    assert afresh(ORDER, error, has_begun=has_begun) is None


def test_another_agent_begins_with_the_change_that_the_checks_refused_and_the_same_one_does_not() -> None:
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.start("a")
    journal.task("a").session.agent = AGENT.name
    refused = replace(failed(journal.task("a")), commit=Commit("c"), base=Commit("b"))
    other = replace(AGENT, name="another")
    journal.tell(refused)
    assert carried(journal.task("a"), other) is None  # its program failed, and nothing was checked
    journal.task("a").trouble.failures[-1] = replace(
        journal.task("a").trouble.failures[-1], error=ErrorClass.CHECK
    )
    found = carried(journal.task("a"), other)
    assert found and (found.commit, found.base) == ("c", "b")
    assert carried(journal.task("a"), AGENT) is None
