"""Forecasts as facts (A8): written when there is news, and only then."""

from interlock.engine.estimates import estimated
from interlock.events import facts as f
from interlock.learn.footprints import Footprints
from interlock.model.history import BranchHistory
from interlock.model.task import Agent, Task, TaskId
from tests.events.journal import Journal

A, B = TaskId("a"), TaskId("b")
BOT = Agent("bot", "command", ("x",))


def journal_of(*names: TaskId) -> Journal:
    journal = Journal(*(Task(name, "Do it", BOT, category="docs") for name in names))
    journal.run()
    return journal


def due(journal: Journal) -> list[f.Fact]:
    return estimated(journal.state, journal.state.tasks.keys(), Footprints(BranchHistory()))


def about(facts: list[f.Fact]) -> list[str]:
    return [fact.task for fact in facts if isinstance(fact, f.TaskEstimated)]


def test_what_is_in_the_log_is_not_written_again() -> None:
    journal = journal_of(A, B)
    first = due(journal)
    assert about(first) == ["a", "b"]
    journal.tell(*first)
    assert due(journal) == []


def test_what_was_learned_is_news_for_tasks_that_are_not_over() -> None:
    journal = journal_of(A, B)
    journal.tell(*due(journal))
    journal.work("a")
    assert about(due(journal)) == ["b"]


def test_a_task_whose_definition_changed_is_looked_at_again() -> None:
    journal = journal_of(A)
    journal.tell(*due(journal))
    journal.tell(f.TaskAccepted(Task(A, "Do it", BOT, category="docs", estimate_seconds=60.0)))
    assert about(due(journal)) == ["a"]
