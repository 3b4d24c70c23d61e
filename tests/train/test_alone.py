"""A change that edits what another task holds alone does not land while that task is under way (K4, W2)."""

from itertools import permutations

import pytest

from interlock.events import facts as f
from interlock.events.alone import Alone, kept_back
from interlock.events.lifecycle import Stage
from interlock.model.reason import Why
from interlock.model.task import Commit, Task, TaskId
from interlock.schedule import Board
from interlock.train import moves
from interlock.ui.words.reasons import reason_text
from tests.events.journal import AGENT, Journal, failed, passed

A, B, C = map(TaskId, "abc")


def task(name: TaskId, *exclusive: str) -> Task:
    return Task(name, f"do {name}", AGENT, exclusive=exclusive)


def finish(journal: Journal, name: str, *touched: str) -> None:
    """Its agent has ended, and this is what it edited."""
    at = journal.task(name)
    journal.tell(
        f.WorkFinished(
            at.spec.id, at.attempt, "implement", at.epoch, commit=Commit(f"{name}-1"), touched=touched
        )
    )


def at_work(*tasks: Task) -> Journal:
    journal = Journal(*tasks)
    journal.run()
    for each in tasks:
        journal.start(each.id)
    return journal


def landings(journal: Journal) -> list[str]:
    """Let the lane do all it can; who landed, in which order."""
    landed: list[str] = []
    while steps := moves(journal.state, journal.time).starts:
        name = steps[0].task
        journal.start(name)
        journal.tell(passed(journal.task(name)))
        if journal.task(name).stage is Stage.DONE:
            landed.append(name)
    return landed


def test_it_waits_until_the_holder_has_landed_and_says_so() -> None:
    journal = at_work(task(A), task(B, "src/db/**"))
    finish(journal, "a", "README.md", "src/db/x.py")
    assert kept_back(journal.state) == {A: Alone(B, "src/db/**", "src/db/x.py")}
    assert landings(journal) == []
    reason = Board(journal.state).reason(A, journal.time)
    said = "edited src/db/x.py, and b holds src/db/** alone; it lands after that"
    assert (reason.code, reason_text(reason), reason.tasks) == (Why.HELD_ALONE, said, (B,))
    finish(journal, "b", "src/db/y.py")
    assert landings(journal) == ["b", "a"]


def test_a_holder_that_fails_lets_it_through_and_starts_again_only_after_it() -> None:
    journal = at_work(task(A), task(B, "src/db/**"))
    finish(journal, "a", "src/db/x.py")
    journal.tell(failed(journal.task("b")))
    board = Board(journal.state)
    assert [choice.task for choice in board.choose(3, journal.time)] == []
    assert reason_text(board.reason(B, journal.time)) == "wants src/db/** (exclusive), held by a"
    assert landings(journal) == ["a"]
    assert [choice.task for choice in Board(journal.state).choose(3, journal.time)] == [B]


def test_the_lane_goes_on_behind_it() -> None:
    journal = at_work(task(A), task(B, "src/db/**"), task(C))
    finish(journal, "a", "src/db/x.py")
    finish(journal, "c", "docs/c.md")
    assert landings(journal) == ["c"]


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_tasks_that_each_edited_what_another_holds_come_to_rest_first_come_first(order: str) -> None:
    journal = at_work(task(A, "a/**"), task(B, "b/**"), task(C, "c/**"))
    touched = {"a": "b/x", "b": "c/x", "c": "a/x"}
    for name in order:
        finish(journal, name, touched[name])
    assert landings(journal)[0] == order[0]
    assert not journal.state.index.train


def test_the_holder_goes_first_even_if_it_came_later() -> None:
    journal = at_work(task(A), task(B, "src/**"))
    finish(journal, "a", "src/x")
    finish(journal, "b", "src/y")
    assert landings(journal) == ["b", "a"]


def test_a_holder_that_waits_for_a_person_holds_nothing() -> None:
    journal = at_work(task(A), task(B, "src/**"))
    finish(journal, "a", "src/x")
    finish(journal, "b", "src/y")
    journal.tell(f.Paused(B))
    assert landings(journal) == ["a"]


def test_what_may_be_on_main_already_is_held_until_that_is_known() -> None:
    """A person cancels a task in the moment in which its change lands."""
    journal = at_work(task(A))
    finish(journal, "a", "src/x")
    journal.work("a", phases=1)
    journal.start("a")
    journal.tell(f.TaskCancelled(A), f.TaskAccepted(task(B, "src/**")))
    assert [choice.task for choice in Board(journal.state).choose(3, journal.time)] == []
    candidate = journal.task("a").change.candidate
    assert candidate
    journal.tell(f.CandidateDropped(A, candidate.commit))
    assert [choice.task for choice in Board(journal.state).choose(3, journal.time)] == [B]


def test_only_as_long_as_its_lease_timeout() -> None:
    waits = Task(A, "do a", AGENT, lease_seconds=60.0)
    journal = at_work(waits, task(B, "src/**"))
    finish(journal, "a", "src/x")
    board = Board(journal.state)
    assert board.overdue(journal.time + 59) == []
    ((name, reason),) = board.overdue(journal.time + 61)
    assert (name, reason.code) == (A, Why.HELD_ALONE)


def test_a_task_that_waits_for_a_slot_does_not_wait_for_a_lease() -> None:
    journal = Journal(Task(A, "do a", AGENT, lease_seconds=60.0, uses=("db",)), task(B))
    journal.run(max_parallel=1)
    journal.start("b")
    board = Board(journal.state)
    assert board.overdue(journal.time + 61) == []
    journal.tell(f.TaskAccepted(Task(C, "do c", AGENT, uses=("db",))), passed(journal.task("b")))
    board.update([A, B, C])
    board.update(journal.start("c"))
    assert [name for name, _ in board.overdue(journal.time + 90)] == [A]
