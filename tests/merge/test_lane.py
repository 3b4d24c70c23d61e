"""Whose turn it is on the way to main (W8, W12, P4)."""

import pytest
from hypothesis import given

from interlock.events import facts as f
from interlock.merge import moves
from interlock.model.step import Start
from interlock.model.task import Commit, Task, TaskId
from tests.events.journal import AGENT, Journal, Move, failed, play
from tests.events.journal import moves as any_moves

A, B = map(TaskId, "ab")


def finished(*names: str) -> Journal:
    """Tasks whose agents are done, in this order."""
    journal = Journal(*(Task(TaskId(name), f"do {name}", AGENT) for name in names))
    journal.run()
    for name in names:
        journal.work(name, phases=1)
    return journal


def step(journal: Journal) -> tuple[str, str] | None:
    starts = moves(journal.state, journal.time)
    return (starts[0].task, starts[0].phase) if starts else None


def test_the_first_to_finish_is_the_first_to_be_checked() -> None:
    journal = finished("b", "a")
    assert moves(journal.state, journal.time) == [Start(B, 1, "verify", "its turn in the lane")]


def test_there_is_one_change_in_the_lane_at_a_time() -> None:
    journal = finished("a", "b")
    journal.start("a")
    assert step(journal) is None


def test_an_agent_at_work_does_not_stop_the_lane() -> None:
    journal = finished("a")
    journal.tell(f.TaskAccepted(Task(B, "do b", AGENT)))
    journal.start("b")
    assert step(journal) == ("a", "verify")


def test_a_tested_change_lands_before_anything_else_is_checked() -> None:
    journal = finished("a", "b")
    journal.tell(f.Paused(A))
    journal.work("b", phases=1)
    journal.tell(f.Unpaused(A))
    assert step(journal) == ("b", "land")


def test_a_change_whose_main_moved_away_is_checked_again() -> None:
    journal = finished("a")
    journal.work("a", phases=1)
    journal.start("a")
    task = journal.task("a")
    journal.tell(f.CandidateStale(A, task.attempt, "land", task.epoch, main=Commit("m2")))
    assert step(journal) == ("a", "verify")


def test_a_red_check_sends_the_task_back_and_lets_the_next_one_in() -> None:
    journal = finished("a", "b")
    journal.start("a")
    journal.tell(failed(journal.task("a")))
    assert step(journal) == ("b", "verify")


def test_a_pause_of_everything_does_not_stop_finished_work() -> None:
    journal = finished("a")
    journal.tell(f.Paused())
    assert step(journal) == ("a", "verify")


def test_a_paused_task_lets_others_by() -> None:
    journal = finished("a", "b")
    journal.tell(f.Paused(A))
    assert step(journal) == ("b", "verify")


def test_a_task_that_this_run_was_not_asked_for_stays_where_it_is() -> None:
    journal = finished("a", "b")
    journal.run(selection=(B,))
    assert step(journal) == ("b", "verify")


def test_a_deferred_change_is_passed_until_its_time_has_come() -> None:
    journal = finished("a", "b")
    journal.start("a")
    task = journal.task("a")
    journal.tell(f.PhaseDeferred(A, task.attempt, "verify", task.epoch, "disk full", 5.0))
    assert step(journal) == ("b", "verify")
    journal.time = task.not_before
    assert step(journal) == ("a", "verify")


def test_a_change_that_may_have_landed_is_left_to_be_looked_up() -> None:
    journal = finished("a")
    journal.work("a", phases=1)
    journal.start("a")
    journal.tell(failed(journal.task("a")))  # back to verify, but its tested commit may be on main
    assert journal.state.reconcile == {A}
    assert step(journal) is None


@pytest.mark.property
@pytest.mark.slow
@given(any_moves)
def test_in_any_history_the_lane_takes_one_change_that_is_its_turn(steps: list[Move]) -> None:
    journal = Journal()
    play(journal, steps)
    state = journal.state
    starts = moves(state, journal.time)
    assert len(starts) <= 1
    for start in starts:
        task = state.tasks[start.task]
        assert start.task in state.train and not state.running & state.train.keys()
        assert (start.attempt, start.phase) == (task.attempt, task.phase.name)
        assert not task.paused and task.not_before <= journal.time and state.is_selected(start.task)


@pytest.mark.property
@pytest.mark.slow
@given(any_moves)
def test_from_any_history_the_lane_empties_without_anybody_being_passed_for_ever(steps: list[Move]) -> None:
    journal = Journal()
    play(journal, steps)
    journal.run()
    journal.tell(*map(f.Unpaused, journal.state.tasks))
    for name in list(journal.state.reconcile):
        candidate = journal.state.tasks[name].candidate
        assert candidate is not None
        journal.tell(f.CandidateDropped(name, candidate.commit))
    for name in sorted(journal.state.running & journal.state.train.keys()):
        journal.carry_on(name)
    waiting = len(journal.state.train)
    journal.time += 1e6
    for _ in range(2 * waiting):
        if start := step(journal):
            journal.start(start[0])
            journal.carry_on(start[0])
    assert journal.state.train == {}
