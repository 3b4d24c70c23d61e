"""What comes next, from facts alone."""

from collections.abc import Sequence

import pytest

from interlock.engine.decide import decide, is_held_by_pause, stop_everything, succession
from interlock.engine.slots import free_slots
from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.record import GENESIS, Recorded, seal
from interlock.events.state import State
from interlock.events.versions import Unknown
from interlock.model.claim import Claim, Held
from interlock.model.reason import said
from interlock.model.step import (
    Answer,
    Archive,
    End,
    Reconcile,
    Recover,
    Refuse,
    Start,
    Stop,
    TakeCharge,
    Tell,
    UnderWay,
    Watch,
    Widen,
    WindDown,
)
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
    return list(decide(state, Board(state), 100.0, dict.fromkeys(busy, UnderWay())))


def reached(state: State, told: frozenset[int] = frozenset()) -> list[object]:
    """The steps while this controller has an act with an agent under way about A."""
    acts = {A: UnderWay(1, 1, can_stop=True, has_agent=True, told=told)}
    return list(decide(state, Board(state), 100.0, acts))


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


def test_when_agents_are_to_stop_nothing_starts_and_what_runs_is_stopped() -> None:
    stop = f.StopRequested("r", agents=True)
    assert steps(state_of(task(A), RUN, *TESTED, stop)) == [End()]
    assert reached(state_of(task(A), RUN, TESTED[0], stop)) == [Stop(A)]
    landing = {A: UnderWay(1, 3, can_stop=False)}
    state = state_of(task(A), RUN, *TESTED, f.PhaseStarted(A, 1, "land", 3), stop)
    assert decide(state, Board(state), 100.0, landing) == []


@pytest.mark.parametrize("taken", [f.TaskReset(A), f.TaskCancelled(A), f.TaskRemoved(A)])
def test_what_a_person_takes_away_is_stopped(taken: f.Fact) -> None:
    assert reached(state_of(task(A), RUN, TESTED[0], taken)) == [Stop(A)]
    assert reached(state_of(task(A), RUN)) == []  # its PhaseStarted is not folded yet


def test_a_person_who_asks_twice_stops_all_that_may_be_stopped() -> None:
    acts = {A: UnderWay(1, 1, can_stop=True), B: UnderWay(1, 2)}
    assert stop_everything(acts) == [Stop(A)]


def test_an_agent_at_work_is_told_what_people_say_once_it_has_started() -> None:
    state = state_of(task(A), RUN, f.MessageSaid(A, "before"), TESTED[0], f.MessageSaid(A, "now"))
    assert reached(state, told=frozenset({3})) == [Tell(A, 1, 5, "now")]
    assert reached(state, told=frozenset({3, 5})) == []


def test_a_person_s_answer_goes_to_the_attempt_that_asked() -> None:
    asked = f.PermissionAsked(A, 1, "implement", 1, call="c1", tool="bash", text="rm")
    assert reached(state_of(task(A), RUN, TESTED[0], asked)) == []
    state = state_of(task(A), RUN, TESTED[0], asked, f.PermissionAnswered(A, 1, "c1", True))
    assert reached(state) == [Answer(A, 1, "c1", True)]


def test_one_scope_is_widened_at_a_time_and_no_agent_starts_meanwhile() -> None:
    requests = [f.ScopeRequested(A, 1, "implement", 1, (path,)) for path in ("x.py", "y.py")]
    facts = (task(A), task(B), RUN, TESTED[0], *requests)
    (first,) = reached(state_of(*facts))
    assert isinstance(first, Widen)
    assert (first.task, first.request, first.paths, first.granted) == (A, 5, ("x.py",), True)
    told = [f.ScopeAnswered(A, 1, (path,), True, request=seq) for path, seq in (("x.py", 5), ("y.py", 6))]
    assert [type(step) for step in reached(state_of(*facts, told[0]))] == [Widen]
    assert [type(step) for step in reached(state_of(*facts, *told))] == [Start]


def test_a_fact_that_only_a_newer_version_understands_stops_the_run_and_nothing_starts() -> None:
    state = state_of(task(A), task(B), RUN, *TESTED)
    state.unknown = Unknown(9, "Teleported", "9.0")
    found = steps(state)
    assert [type(step) for step in found] == [WindDown, Start]
    assert isinstance(found[1], Start) and found[1].phase == "land"
    assert state.run
    state.run.stopping = True
    assert [type(step) for step in steps(state)] == [Start]


def test_the_run_ends_when_nothing_is_possible_without_a_person_but_not_during_a_pause() -> None:
    failed = state_of(task(A), RUN, f.TaskFailed(A, 1, said("no use")))
    assert steps(failed) == [End()]
    paused = state_of(task(A), RUN, f.Paused())
    assert steps(paused) == []
    assert is_held_by_pause(paused) and not is_held_by_pause(failed)


@pytest.mark.parametrize(
    ("expires", "renewed", "is_dead", "expected"),
    [
        (20.0, 10.0, True, TakeCharge(7)),
        (20.0, 10.0, False, Refuse()),
        (-1.0, 31.0, False, TakeCharge()),
        (-3600.0, 3630.0, False, Watch(15.0)),
        (3700.0, -3670.0, False, Watch(15.0)),
    ],
)
def test_the_last_controller_is_replaced_when_it_is_gone_and_watched_when_its_lease_tells_nothing(
    expires: float, renewed: float, is_dead: bool, expected: object
) -> None:
    row = Held(Claim("controller", 7, "somebody"), expires, renewed_seconds_ago=renewed)
    assert succession(row, is_dead) == expected


def test_free_slots_count_agents_and_not_the_lane() -> None:
    """W14."""
    assert free_slots(state_of(task(A), RUN, TESTED[0])) == 1
    assert free_slots(state_of(task(A), RUN, *TESTED[:3])) == 2
