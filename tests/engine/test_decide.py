"""What comes next, from facts alone."""

from collections.abc import Sequence

from interlock.engine.decide import decide
from interlock.engine.slots import free_slots
from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.record import GENESIS, Recorded, seal
from interlock.events.state import State
from interlock.model.step import Archive, Reconcile, Recover, Start
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.schedule import Board

A, B = TaskId("a"), TaskId("b")


def task(name: TaskId, *needs: TaskId) -> f.TaskAccepted:
    return f.TaskAccepted(
        Task(name, f"do {name}", Agent("x", "command", ("x",)), needs=needs, done_when=("ok",))
    )


def state_of(*facts: f.Fact) -> State:
    rows: list[Recorded] = []
    for fact in facts:
        rows.append(seal(rows[-1].hash if rows else GENESIS, len(rows) + 1, float(len(rows)), "t", fact))
    return fold(rows)


def steps(state: State, busy: Sequence[TaskId] = ()) -> list[object]:
    return list(decide(state, Board(state), 100.0, busy))


RUN = f.RunStarted("r", "me", 1, 2)
TESTED = (
    f.PhaseStarted(A, 1, "implement", 1, holder="me"),
    f.WorkFinished(A, 1, "implement", 1, commit=Commit("w"), base=Commit("m")),
    f.PhaseStarted(A, 1, "verify", 2, holder="me"),
    f.CandidatePassed(A, 1, "verify", 2, commit=Commit("c"), tree=Tree("t"), base=Commit("m")),
)


def test_a_task_starts_when_what_it_needs_has_landed() -> None:
    before = state_of(task(A), task(B, A), RUN)
    assert [step.task for step in steps(before) if isinstance(step, Start)] == [A]
    landed = (f.PhaseStarted(A, 1, "land", 3), f.Landed(A, 1, "land", 3, commit=Commit("c")))
    after = state_of(task(A), task(B, A), RUN, *TESTED, *landed)
    assert [step.task for step in steps(after) if isinstance(step, Start)] == [B]


def test_a_phase_that_nobody_acts_on_is_recovered_and_one_that_somebody_does_is_not() -> None:
    state = state_of(task(A), RUN, TESTED[0])
    assert isinstance(steps(state)[0], Recover)
    assert steps(state, busy=[A]) == []


def test_a_tested_change_lands_next() -> None:
    landing = steps(state_of(task(A), RUN, *TESTED))[0]
    assert isinstance(landing, Start)
    assert (landing.task, landing.phase) == (A, "land")


def test_a_task_that_was_reset_while_its_commit_may_have_landed_is_looked_up_on_main_first() -> None:
    state = state_of(task(A), RUN, *TESTED, f.PhaseStarted(A, 1, "land", 3), f.TaskReset(A))
    assert steps(state) == [Reconcile(A, Commit("c"))]
    dropped = fold(
        [],
        state_of(
            task(A),
            RUN,
            *TESTED,
            f.PhaseStarted(A, 1, "land", 3),
            f.TaskReset(A),
            f.CandidateDropped(A, Commit("c")),
        ),
    )
    assert [type(step) for step in steps(dropped)] == [Start]


def test_an_attempt_that_was_taken_from_its_agent_is_archived_before_the_next() -> None:
    state = state_of(task(A), RUN, TESTED[0], f.TaskReset(A))
    assert steps(state) == [Archive(A, 1)]
    archived = state_of(task(A), RUN, TESTED[0], f.TaskReset(A), f.WorkspaceArchived(A, 1, ""))
    assert [type(step) for step in steps(archived)] == [Start]


def test_when_the_run_is_stopping_no_agent_starts_but_finished_work_lands() -> None:
    state = state_of(task(A), task(B), RUN, *TESTED, f.StopRequested("r"))
    assert [(step.task, step.phase) for step in steps(state) if isinstance(step, Start)] == [(A, "land")]


def test_when_agents_are_to_stop_nothing_starts() -> None:
    assert steps(state_of(task(A), RUN, *TESTED, f.StopRequested("r", agents=True))) == []


def test_free_slots_count_agents_and_not_the_lane() -> None:
    """W14."""
    assert free_slots(state_of(task(A), RUN, TESTED[0])) == 1
    assert free_slots(state_of(task(A), RUN, *TESTED[:3])) == 2
