"""Whose turn it is on the way to main (D1, P4)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.main import held
from interlock.model.reason import Reason, Why, said
from interlock.model.step import Start
from interlock.model.task import Commit, PhaseKind, Task, TaskId, Tree
from interlock.train import is_forsaken, moves
from tests.events.journal import AGENT, Journal, Move, failed, passed, play, started
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
    assert moves(journal.state, journal.time) == [Start(B, 1, "verify", Reason(Why.NEXT_IN_LANE))]


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
    journal.tell(f.PhaseDeferred(A, task.attempt, "verify", task.epoch, said("disk full"), 5.0))
    assert step(journal) == ("b", "verify")
    journal.time = task.queue.not_before
    assert step(journal) == ("a", "verify")


def test_a_change_that_may_have_landed_is_left_to_be_looked_up() -> None:
    journal = finished("a")
    journal.work("a", phases=1)
    journal.start("a")
    journal.tell(failed(journal.task("a")))  # back to verify, but its tested commit may be on main
    assert journal.state.index.reconcile == {A}
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
        assert start.task in state.index.train and not state.index.running & state.index.train.keys()
        assert (start.attempt, start.phase) == (task.attempt, task.phase.name)
        assert (
            not task.queue.paused and task.queue.not_before <= journal.time and state.is_selected(start.task)
        )


@pytest.mark.property
@pytest.mark.slow
@given(any_moves)
def test_from_any_history_the_lane_empties_without_anybody_being_passed_for_ever(steps: list[Move]) -> None:
    journal = Journal()
    play(journal, steps)
    journal.run()
    journal.tell(*map(f.Unpaused, journal.state.tasks))
    for name in list(journal.state.index.reconcile):
        candidate = journal.state.tasks[name].change.candidate
        assert candidate is not None
        journal.tell(f.CandidateDropped(name, candidate.commit))
    for name in sorted(journal.state.index.running & journal.state.index.train.keys()):
        journal.carry_on(name)
    waiting = len(journal.state.index.train)
    journal.time += 1e6
    for _ in range(2 * waiting):
        if start := step(journal):
            journal.start(start[0])
            journal.carry_on(start[0])
    assert journal.state.index.train.keys() <= held(journal.state), "only what needs a task that is not done"


def in_lane(*names: str, depth: int = 2) -> Journal:
    """The same in a run that checks several changes at once."""
    journal = finished(*names)
    journal.tell(f.RunStarted("run", "holder", 1, 3, lane_depth=depth))
    journal.tell(f.MainSeen("main", Commit("m1"), Tree("t1")))
    return journal


def build(journal: Journal, name: str, base: str) -> None:
    """Its check begins, and its commit is there."""
    start = next(start for start in moves(journal.state, journal.time) if start.task == name)
    journal.tell(replace(started(journal.task(name)), ahead=start.ahead))
    assert start.onto in ("", base)
    commit, tree = Commit(f"{name}-1"), Tree(f"tree-{name}-1")
    journal.tell(f.CandidateBuilt(*key(journal, name), Commit(base), commit, tree))


def key(journal: Journal, name: str) -> tuple[TaskId, int, str, int]:
    task = journal.task(name)
    return task.spec.id, task.attempt, task.phase.name, task.epoch


def turn_green(journal: Journal, name: str) -> None:
    built = journal.task(name).change.built
    assert built is not None
    journal.tell(f.CandidatePassed(*key(journal, name), built.base, built.commit, built.tree))


def land(journal: Journal, name: str) -> None:
    journal.start(name)
    journal.tell(passed(journal.task(name)), f.MainSeen("main", Commit(f"{name}-1"), Tree("t")))


def steps(journal: Journal) -> list[tuple[str, str, str]]:
    return [(start.task, start.phase, start.onto) for start in moves(journal.state, journal.time)]


def test_the_next_change_is_checked_on_top_of_the_one_that_is_being_checked() -> None:
    journal = in_lane("a", "b", "c")
    journal.start("a")
    assert steps(journal) == []  # there is nothing yet that it could be on top of
    journal.tell(f.CandidateBuilt(*key(journal, "a"), Commit("m1"), Commit("a-1"), Tree("t")))
    (start,) = moves(journal.state, journal.time)
    assert (start.task, start.phase, start.onto, start.ahead) == ("b", "verify", "a-1", "a")
    assert start.why == Reason(Why.NEXT_IN_LANE, {"ahead": "a"})
    build(journal, "b", "a-1")
    assert steps(journal) == []  # two at once, not three


def test_nothing_is_checked_on_top_of_a_change_that_edits_how_checks_run() -> None:
    journal = in_lane("a", "b")
    work = journal.task("a").change.work
    assert work is not None
    journal.task("a").change.work = replace(work, touched=("src/a.py", "tests/conftest.py"))
    build(journal, "a", "m1")
    assert steps(journal) == []
    turn_green(journal, "a")
    assert steps(journal) == [("a", "land", "")]
    land(journal, "a")
    assert steps(journal) == [("b", "verify", "")]


def test_with_a_depth_of_one_nothing_is_checked_beside_another() -> None:
    journal = in_lane("a", "b", depth=1)
    build(journal, "a", "m1")
    assert steps(journal) == []


def test_a_change_lands_while_the_next_two_are_checked() -> None:
    journal = in_lane("a", "b", "c", "d")
    build(journal, "a", "m1")
    build(journal, "b", "a-1")
    turn_green(journal, "a")
    assert steps(journal) == [("a", "land", ""), ("c", "verify", "b-1")]


def test_what_passed_on_top_of_another_lands_after_it() -> None:
    journal = in_lane("a", "b")
    build(journal, "a", "m1")
    build(journal, "b", "a-1")
    turn_green(journal, "b")
    assert steps(journal) == []
    turn_green(journal, "a")
    assert steps(journal) == [("a", "land", "")]
    land(journal, "a")
    assert steps(journal) == [("b", "land", "")]


def test_what_passed_on_top_of_a_change_that_turns_red_is_sent_to_be_built_again() -> None:
    journal = in_lane("a", "b")
    build(journal, "a", "m1")
    build(journal, "b", "a-1")
    assert not is_forsaken(journal.state, B)
    journal.tell(failed(journal.task("a")))
    assert is_forsaken(journal.state, B)
    turn_green(journal, "b")
    assert steps(journal) == [("b", "land", "")]  # main is elsewhere, as the landing finds out
    journal.start("b")
    journal.tell(f.CandidateStale(*key(journal, "b"), main=Commit("m1")))
    assert steps(journal) == [("b", "verify", "")]


def test_a_check_on_top_of_a_change_that_has_landed_goes_on() -> None:
    journal = in_lane("a", "b")
    build(journal, "a", "m1")
    build(journal, "b", "a-1")
    turn_green(journal, "a")
    land(journal, "a")
    assert not is_forsaken(journal.state, B)


def test_what_passed_does_not_wait_for_a_change_that_a_person_holds_back() -> None:
    journal = in_lane("a", "b")
    build(journal, "a", "m1")
    build(journal, "b", "a-1")
    turn_green(journal, "a")
    turn_green(journal, "b")
    journal.tell(f.Paused(A))
    assert steps(journal) == [("b", "land", "")]


def test_what_went_wrong_on_top_of_another_is_no_failure_and_is_asked_again_on_main_only() -> None:
    journal = in_lane("a", "b", "c")
    build(journal, "a", "m1")
    build(journal, "b", "a-1")
    journal.tell(f.CandidateStale(*key(journal, "b"), why=said("red on top of a")))
    task = journal.task("b")
    assert (task.phase.name, task.trouble.failures, task.attempt) == ("verify", [], 1)
    assert steps(journal) == []
    turn_green(journal, "a")
    land(journal, "a")
    assert steps(journal) == [("b", "verify", "")]


def test_nobody_is_checked_on_top_of_a_change_whose_main_has_moved_away() -> None:
    journal = in_lane("a", "b")
    build(journal, "a", "m1")
    journal.tell(f.MainSeen("main", Commit("m2"), Tree("t2")))
    assert steps(journal) == []


@pytest.mark.property
@pytest.mark.slow
@given(any_moves, st.integers(1, 3))
def test_in_any_history_of_a_deep_lane_one_change_lands_and_the_next_is_on_top_of_a_living_one(
    history: list[Move], depth: int
) -> None:
    journal = Journal()
    play(journal, history)
    journal.tell(f.RunStarted("run", "holder", 1, 3, lane_depth=depth))
    state = journal.state
    starts = moves(state, journal.time)
    landing = [name for name in state.index.running if state.tasks[name].phase.kind is PhaseKind.LAND]
    landing += [
        start.task for start in starts if start.phase == "land" and state.tasks[start.task].change.candidate
    ]
    assert len(starts) <= 2
    assert len(landing) <= 1 or not starts
    for start in starts:
        assert bool(start.onto) == bool(start.ahead)
        assert not start.ahead or (start.ahead in state.index.train and depth > 1 and start.phase == "verify")
