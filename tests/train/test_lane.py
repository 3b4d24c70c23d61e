"""Whose turn it is on the way to main (D1, P4)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.leases import can_hold
from interlock.events.main import held
from interlock.events.state import State
from interlock.model.outcome import CheckResult
from interlock.model.reason import Reason, Why, said
from interlock.model.step import Start, StartBuild
from interlock.model.task import Commit, PhaseKind, Task, TaskId, Tree
from interlock.train import Moves, moves
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
    starts = moves(journal.state, journal.time).starts
    if not starts:
        return None
    assert isinstance(starts[0], Start)
    return starts[0].task, starts[0].phase


def test_the_first_to_finish_is_the_first_to_be_checked() -> None:
    journal = finished("b", "a")
    assert moves(journal.state, journal.time) == Moves((Start(B, 1, "verify", Reason(Why.NEXT_IN_LANE)),))


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


def any_lands(state: State) -> bool:
    """Tell if a landing runs. The histories are any facts, so two may."""
    return any(state.tasks[name].phase.kind is PhaseKind.LAND for name in state.index.running)


@pytest.mark.property
@pytest.mark.slow
@given(any_moves)
def test_in_any_history_the_lane_takes_one_change_that_is_its_turn(steps: list[Move]) -> None:
    journal = Journal()
    play(journal, steps)
    state = journal.state
    starts = moves(state, journal.time).starts
    assert len(starts) <= 1
    for start in starts:
        assert isinstance(start, Start)
        task = state.tasks[start.task]
        assert start.task in state.index.train
        if start.phase == "land":  # beside checks of those behind it, if it had to wait for a moment
            assert not any_lands(state)
        else:
            assert not state.index.running & state.index.train.keys()
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
    state = journal.state
    short = {name for name in state.index.train if not can_hold(state, state.tasks[name])}
    left = state.index.train.keys() - held(state) - short
    assert not left, "only what needs a task that is not done, or values that another attempt holds"


def in_lane(*names: str, depth: int = 2) -> Journal:
    """The same in a run that checks several changes at once. Their checks read everything."""
    journal = Journal(*(Task(TaskId(name), f"do {name}", AGENT, verify=("make test",)) for name in names))
    journal.tell(f.RunStarted("run", "holder", 1, 3, lane_depth=depth))
    journal.tell(f.MainSeen("main", Commit("m1"), Tree("t1")))
    for name in names:
        journal.work(name, phases=1)
    return journal


def key(journal: Journal, name: str) -> tuple[TaskId, int, str, int]:
    task = journal.task(name)
    return task.spec.id, task.attempt, task.phase.name, task.epoch


def turn_green(journal: Journal, name: str) -> None:
    """Its check on main passes."""
    commit = Commit(f"{name}-1")
    journal.tell(
        f.CandidatePassed(*key(journal, name), journal.state.main.commit, commit, Tree(f"tree-{name}"))
    )


def land(journal: Journal, name: str) -> None:
    journal.start(name)
    commit = Commit(f"{name}-1")
    landed = f.Landed(*key(journal, name), base=journal.state.main.commit, commit=commit)
    journal.tell(landed, f.MainSeen("main", commit, Tree("t")))


def steps(journal: Journal) -> list[tuple[str, str]]:
    """What starts: a task with its phase, or with the tasks that it is built on."""
    return [
        (start.change, "on " + " ".join(start.ahead))
        if isinstance(start, StartBuild)
        else (start.task, start.phase)
        for start in moves(journal.state, journal.time).starts
    ]


def build(journal: Journal, name: str) -> int:
    """The lane starts a build of this task; its slot."""
    step = next(
        start
        for start in moves(journal.state, journal.time).starts
        if isinstance(start, StartBuild) and start.change == name
    )
    started = f.BuildStarted(step.change, step.slot, len(journal.rows), step.ahead, step.works, step.main)
    journal.tell(started)
    return step.slot


def end_build(journal: Journal, slot: int, *checks: CheckResult, **fields: Any) -> None:
    running = journal.state.builds.running[slot]
    journal.tell(f.BuildEnded(running.task, slot, running.epoch, checks=checks, **fields))


RED = CheckResult("make test", 1)


def test_the_next_change_is_tested_on_top_of_the_one_that_is_being_checked() -> None:
    journal = in_lane("a", "b", "c")
    assert steps(journal) == [("a", "verify"), ("b", "on a")]
    journal.start("a")
    build(journal, "b")
    assert steps(journal) == []  # two at once, not three
    why = Reason(Why.TESTED_EARLY, {"tasks": (A,)})
    (step,) = [s for s in moves(in_lane("a", "b").state, 2e3).starts if isinstance(s, StartBuild)]
    assert step == StartBuild(1, B, (A,), (Commit("a-1"), Commit("b-1")), Commit("m1"), why)


def test_nothing_is_tested_on_top_of_a_change_that_edits_how_checks_run() -> None:
    journal = in_lane("a", "b")
    work = journal.task("a").change.work
    assert work is not None
    journal.task("a").change.work = replace(work, touched=("src/a.py", "tests/conftest.py"))
    assert steps(journal) == [("a", "verify")]


def test_with_a_depth_of_one_nothing_is_tested_beside_another() -> None:
    journal = in_lane("a", "b", depth=1)
    assert steps(journal) == [("a", "verify")]
    journal.start("a")
    assert steps(journal) == []


def test_a_change_lands_while_the_next_two_are_tested() -> None:
    journal = in_lane("a", "b", "c", "d")
    journal.start("a")
    build(journal, "b")
    turn_green(journal, "a")
    assert steps(journal) == [("a", "land"), ("c", "on a b")]


def test_what_passed_early_is_judged_on_main_after_the_changes_that_it_was_tested_with() -> None:
    journal = in_lane("a", "b")
    journal.start("a")
    end_build(journal, build(journal, "b"))
    assert steps(journal) == []
    turn_green(journal, "a")
    assert steps(journal) == [("a", "land")]
    land(journal, "a")
    assert steps(journal) == [("b", "verify")]


def test_a_build_on_top_of_a_change_that_has_landed_goes_on_and_is_waited_for() -> None:
    journal = in_lane("a", "b")
    journal.start("a")
    slot = build(journal, "b")
    turn_green(journal, "a")
    land(journal, "a")
    assert moves(journal.state, journal.time) == Moves()
    end_build(journal, slot, RED)
    assert steps(journal) == [("b", "verify")]  # to judge what is known by now


def test_a_build_on_top_of_a_change_that_turns_red_is_stopped() -> None:
    journal = in_lane("a", "b")
    journal.start("a")
    slot = build(journal, "b")
    journal.tell(failed(journal.task("a")))
    assert moves(journal.state, journal.time).stops == (slot,)
    assert steps(journal) == [("b", "verify")]


def test_builds_are_stopped_when_main_is_moved_by_another_hand() -> None:
    journal = in_lane("a", "b")
    journal.start("a")
    slot = build(journal, "b")
    journal.tell(f.MainSeen("main", Commit("m2"), Tree("t2")))
    assert moves(journal.state, journal.time).stops == (slot,)


def test_what_a_build_showed_counts_no_more_when_a_change_in_it_is_made_again() -> None:
    journal = in_lane("a", "b")
    journal.start("a")
    end_build(journal, build(journal, "b"))
    journal.tell(failed(journal.task("a")))
    journal.work("a", phases=1)
    assert ("b", "verify") in steps(journal) and ("a", "on b") in steps(journal)


def test_the_lane_does_not_wait_for_a_change_that_a_person_holds_back() -> None:
    journal = in_lane("a", "b")
    journal.start("a")
    slot = build(journal, "b")
    turn_green(journal, "a")
    journal.tell(f.Paused(A))
    assert moves(journal.state, journal.time).stops == (slot,)
    assert steps(journal) == [("b", "verify")]


def test_after_a_build_that_came_to_no_result_builds_wait_and_the_lane_goes_on() -> None:
    journal = in_lane("a", "b")
    end_build(journal, build(journal, "b"), why=said("disk full"), retry_after_seconds=60.0)
    assert steps(journal) == [("a", "verify")]
    journal.time += 60.0
    assert steps(journal) == [("a", "verify"), ("b", "on a")]


def test_a_run_that_begins_knows_no_builds_of_the_one_before() -> None:
    journal = in_lane("a", "b")
    build(journal, "b")
    journal.tell(f.RunStarted("next", "holder", 2, 3, lane_depth=2))
    assert steps(journal) == [("a", "verify"), ("b", "on a")]


@pytest.mark.property
@pytest.mark.slow
@given(any_moves, st.integers(1, 3))
def test_in_any_history_one_change_lands_and_builds_are_on_top_of_changes_of_the_train(
    history: list[Move], depth: int
) -> None:
    journal = Journal()
    play(journal, history)
    journal.tell(f.RunStarted("run", "holder", 1, 3, lane_depth=depth))
    state = journal.state
    starts = moves(state, journal.time).starts
    lands = [start.task for start in starts if isinstance(start, Start) and start.phase == "land"]
    assert len(lands) <= (not any_lands(state))
    assert len({start.task for start in starts}) == len(starts)
    for start in starts:
        if isinstance(start, StartBuild):
            assert depth > 1 and {start.change, *start.ahead} <= state.index.train.keys()
