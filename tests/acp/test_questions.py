"""Questions in the log: who asks, what a person said, and when it no longer matters."""

from interlock.events.asked import Permission
from interlock.events.facts import PermissionAnswered, PermissionAsked
from interlock.model.task import Task, TaskId
from tests.events.journal import AGENT, Journal, failed

A = TaskId("a")


def asking(call: str = "c1") -> Journal:
    """A task whose agent asks for leave."""
    journal = Journal(Task(A, "Make it", AGENT))
    journal.start("a")
    task = journal.task("a")
    journal.tell(PermissionAsked(A, task.attempt, task.phase.name, task.epoch, call, "edit", "write it"))
    return journal


def test_a_question_stays_open_until_it_is_answered() -> None:
    journal = asking()
    assert journal.task("a").talk.permissions == [Permission(1, "c1", "edit", "write it")]
    journal.tell(PermissionAnswered(A, 1, "c1", allow=False))
    assert [asked.allow for asked in journal.task("a").talk.permissions] == [False]


def test_the_first_answer_counts() -> None:
    journal = asking()
    journal.tell(PermissionAnswered(A, 1, "c1", allow=False), PermissionAnswered(A, 1, "c1", allow=True))
    assert [asked.allow for asked in journal.task("a").talk.permissions] == [False]


def test_an_answer_to_something_else_changes_nothing() -> None:
    journal = asking()
    journal.tell(PermissionAnswered(A, 1, "c2", allow=True), PermissionAnswered(A, 2, "c1", allow=True))
    journal.tell(PermissionAnswered(TaskId("unknown"), 1, "c1", allow=True))
    assert [asked.allow for asked in journal.task("a").talk.permissions] == [None]


def test_the_next_attempt_begins_without_questions() -> None:
    journal = asking()
    journal.tell(failed(journal.task("a")))
    journal.start("a")
    assert journal.task("a").talk.permissions == []


def test_a_question_under_an_old_claim_is_ignored() -> None:
    journal = asking()
    task = journal.task("a")
    journal.tell(PermissionAsked(A, task.attempt, task.phase.name, task.epoch - 1, "c9", "edit", "late"))
    assert [asked.call for asked in journal.task("a").talk.permissions] == ["c1"]
