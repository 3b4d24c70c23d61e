"""When a task starts although it may edit what somebody else edits (D5), and what the log teaches (K1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.overlaps import Regime
from interlock.events.state import State
from interlock.model.forecast import Beside, Chance, Forecast
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Task, TaskId
from interlock.schedule import Choice
from interlock.schedule.footprint import footprint_of, shared_paths
from interlock.schedule.overlaps import THETA, outlook
from tests.events.journal import Journal
from tests.schedule.test_board import Floor, task
from tests.schedule.test_properties import Drive, assert_no_conflicts, graphs
from tests.tiers import examples

A, B, C = map(TaskId, "abc")


def pair() -> Floor:
    return Floor(task("a", touches=("x",), estimate_seconds=3_600), task("b", touches=("x",)))


def choice(floor: Floor) -> Choice:
    (found,) = floor.board.choose(1, floor.journal.time)
    return found


def start_beside(journal: Journal, name: str, *others: str) -> None:
    now = journal.task(name)
    beside = tuple(Beside(TaskId(other), 1.0) for other in others)
    journal.tell(f.PhaseStarted(now.spec.id, now.attempt + 1, "implement", now.epoch + 1, beside=beside))


def conflict(journal: Journal, name: str) -> None:
    """Its work is done, and does not fit to what landed meanwhile."""
    journal.carry_on(name)
    journal.start(name)
    now = journal.task(name)
    where = (now.spec.id, now.attempt, now.phase.name, now.epoch)
    journal.tell(f.PhaseFailed(*where, error=ErrorClass.CONFLICT, why=said("conflict")))


def land(journal: Journal, name: str) -> None:
    journal.carry_on(name)
    journal.work(name, 2)


def side_by_side() -> Journal:
    journal = Journal(task("a", touches=("x",)), task("b", touches=("x",)))
    journal.run()
    journal.start("a")
    start_beside(journal, "b", "a")
    return journal


def told(state: State) -> Regime:
    return state.learned.overlaps.regimes.get("other", Regime())


def test_a_start_beside_another_names_it_and_says_what_is_at_stake() -> None:
    floor = pair()
    floor.start("a")
    found = choice(floor)
    assert found.beside == (Beside(A, 1.0),)
    assert (found.why.code, found.why.tasks) == (Why.CHEAP_OVERLAP, ("a",))
    assert (found.why.number("theta"), found.why.number("overlaps")) == (THETA, 0)


def test_what_was_learned_is_said_with_its_count() -> None:
    floor = pair()
    floor.journal.state.learned.overlaps.regimes["other"] = Regime(overlaps=31, conflicts=3, exposure=30)
    floor.start("a")
    assert choice(floor).why.number("overlaps") == 31


def test_where_overlaps_mostly_conflict_a_slot_idles_instead() -> None:
    floor = pair()
    floor.journal.state.learned.overlaps.regimes["other"] = Regime(
        overlaps=30, conflicts=25, exposure=15, redone=25
    )
    floor.start("a")
    assert floor.choice() == []
    assert floor.board.reason(B, floor.journal.time).code == Why.OVERLAP


def test_where_a_conflict_is_soon_repaired_overlaps_start_though_they_mostly_conflict() -> None:
    floor = pair()
    floor.journal.state.learned.overlaps.regimes["other"] = Regime(30, 25, 15, redone=25, rework=25 * -1.6)
    floor.start("a")
    assert choice(floor).task == B


def test_one_conflict_by_chance_does_not_end_all_overlaps() -> None:
    floor = pair()
    floor.journal.state.learned.overlaps.regimes["other"] = Regime(overlaps=1, conflicts=1, exposure=0.5)
    floor.start("a")
    assert choice(floor).task == B


def test_another_kind_of_work_counts_as_a_hint_and_the_same_kind_as_evidence() -> None:
    state = State()
    state.learned.overlaps.regimes["backend"] = Regime(overlaps=40, conflicts=36, exposure=22)
    assert outlook(State(), "docs").rate < outlook(state, "docs").rate < outlook(state, "backend").rate


def test_a_pair_of_which_both_land_was_clean() -> None:
    journal = side_by_side()
    land(journal, "a")
    assert told(journal.state).overlaps == 0
    land(journal, "b")
    assert told(journal.state) == Regime(overlaps=1, exposure=1.0)
    assert not journal.state.learned.overlaps.pairs


@pytest.mark.parametrize(("first", "loser"), [("a", "b"), ("b", "a")])
def test_whoever_comes_second_may_conflict_and_what_it_takes_to_redo_is_counted(
    first: str, loser: str
) -> None:
    journal = side_by_side()
    land(journal, first)
    conflict(journal, loser)
    assert (told(journal.state).conflicts, told(journal.state).exposure) == (1, 0.5)
    journal.start(loser)
    journal.carry_on(loser)
    assert told(journal.state).redone == 1
    assert told(journal.state).rework < 0  # five seconds, where ten minutes were expected


@pytest.mark.parametrize("end", [f.TaskCancelled(B), f.TaskReset(B), f.TaskRemoved(B)])
def test_what_a_person_takes_away_tells_nothing(end: f.Fact) -> None:
    journal = side_by_side()
    journal.tell(end)
    land(journal, "a")
    assert journal.state.learned.overlaps.pairs == []
    assert journal.state.learned.overlaps.regimes == {}


def test_one_conflict_of_a_task_beside_two_others_is_one_conflict() -> None:
    journal = Journal(*(task(name, touches=("x",)) for name in "abc"))
    journal.run()
    journal.start("a")
    start_beside(journal, "b", "a")
    start_beside(journal, "c", "a", "b")
    land(journal, "a")
    land(journal, "b")
    conflict(journal, "c")
    assert (told(journal.state).conflicts, told(journal.state).overlaps) == (1, 3)


def test_what_was_counted_fades_from_run_to_run() -> None:
    journal = side_by_side()
    land(journal, "a")
    conflict(journal, "b")
    journal.run()
    assert 0.9 < told(journal.state).conflicts < 1


def forecast(*chances: Chance) -> Forecast:
    return Forecast("other", Reason(Why.DECLARED), "scripted", 60.0, 120.0, 0.8, footprint=chances)


def test_a_footprint_is_what_is_declared_and_granted_and_forecast_each_path_once() -> None:
    journal = Journal(task("a", touches=("x",)))
    journal.task("a").session.scope = ("y",)
    journal.tell(
        f.TaskEstimated(A, forecast(Chance("log.md", 0.4, "companion"), Chance("y", 0.2, "touched")))
    )
    found = {chance.path: chance.probability for chance in footprint_of(journal.task("a"))}
    assert found == {"x": 1.0, "y": 1.0, "log.md": 0.4}


def test_two_tasks_meet_where_both_are_likely_to_edit() -> None:
    journal = Journal(task("a"), task("b"))
    journal.tell(f.TaskEstimated(A, forecast(Chance("log.md", 0.5, "companion"))))
    journal.tell(
        f.TaskEstimated(B, forecast(Chance("log.md", 0.4, "companion"), Chance("z", 1.0, "touched")))
    )
    assert shared_paths(journal.task("a"), journal.task("b")) == pytest.approx(0.2)


def test_a_likely_companion_makes_a_task_second_choice() -> None:
    floor = Floor(task("a", touches=("x",)), task("b", touches=("y",), priority=1), task("c", touches=("z",)))
    floor.tell(*(f.TaskEstimated(name, forecast(Chance("log.md", 0.6, "companion"))) for name in (A, B)))
    floor.start("a")
    assert floor.choice(1) == ["c"]


@pytest.mark.slow
@pytest.mark.property
@examples(0.8)
@given(
    graphs(),
    st.integers(1, 4),
    st.integers(0, 2**16),
    st.sampled_from([Regime(), Regime(99, 99, 1), Regime(99)]),
)
def test_no_experience_makes_the_board_break_a_hard_lease(
    specs: list[Task], slots: int, seed: int, regime: Regime
) -> None:
    drive = Drive(specs, slots, seed)
    drive.state.learned.overlaps.regimes["other"] = regime
    for _ in range(30 * len(specs)):
        drive.start_all()
        assert_no_conflicts(drive.state)
        if not drive.state.index.running:
            return
        drive.end_one()
