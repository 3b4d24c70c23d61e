"""Runs in the mind: the real fold, board and lane, without time or processes (D9, A8)."""

import pytest

from interlock.engine.foresight import Terms, foresee, planned, quantile, rehearse, remaining_seconds
from interlock.engine.rehearsal import Fate, Rehearsal, copied, imagined
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.task import Agent, Commit, Task, TaskId
from interlock.model.usage import Usage

AGENT = Agent("coder", "command", ("true",))


def task(name: str, *needs: str, **more: object) -> Task:
    return Task(TaskId(name), "", AGENT, tuple(map(TaskId, needs)), **more)  # type: ignore[arg-type]  # fields of Task


def state_of(*tasks: Task) -> State:
    state = State()
    for one in tasks:
        apply(state, imagined(state, 0.0, f.TaskAccepted(one)))
    return state


def minute(_task: TaskState, _attempt: int) -> Fate:
    return Fate(60.0)


def test_independent_work_takes_as_long_as_the_slots_allow() -> None:
    """P7: four minutes of work on two slots are two minutes."""
    state = state_of(*(task(f"t{number}") for number in range(4)))
    outlook = rehearse(state, Terms(0.0, 2), minute)
    assert (outlook.seconds, outlook.attempts, outlook.left, len(outlook.ends)) == (120.0, 4, 0, 4)


def test_needs_make_a_chain_however_many_slots_there_are() -> None:
    outlook = rehearse(state_of(task("a"), task("b", "a"), task("c", "b")), Terms(0.0, 8), minute)
    assert [outlook.ends[TaskId(name)] for name in "abc"] == [60.0, 120.0, 180.0]


def test_an_attempt_that_does_not_land_is_made_again_and_paid_for() -> None:
    """W12: the second lands."""
    outlook = rehearse(
        state_of(task("a")), Terms(0.0, 1), lambda _task, attempt: Fate(60.0, attempt > 1, 5.0, 0.25)
    )
    assert (outlook.seconds, outlook.attempts, outlook.cost_usd) == (130.0, 2, 0.5)


def test_a_task_that_never_lands_is_given_up_and_what_needs_it_is_left() -> None:
    state = state_of(task("a", retries=2), task("b", "a"))
    outlook = rehearse(state, Terms(0.0, 1), lambda _task, _attempt: Fate(60.0, lands=False))
    assert state.tasks[TaskId("a")].stage is Stage.FAILED
    assert (outlook.attempts, outlook.left, outlook.ends) == (3, 1, {})


@pytest.mark.parametrize(("depth", "seconds"), [(1, 300.0), (2, 180.0), (4, 120.0)])
def test_checks_that_run_beside_each_other_do_so_in_the_mind_too(depth: int, seconds: float) -> None:
    """P3: four changes at once, a minute of checks each; the lane lands them one after the other."""
    state = state_of(*(task(f"t{number}") for number in range(4)))
    outlook = rehearse(state, Terms(0.0, 4, lane_depth=depth), lambda *_: Fate(60.0, True, 60.0))
    assert (outlook.seconds, len(outlook.ends)) == (seconds, 4)


def test_exclusive_paths_are_kept_apart_in_the_mind_too() -> None:
    """K4."""
    state = state_of(task("a", exclusive=("x",)), task("b", exclusive=("x",)))
    assert rehearse(state, Terms(0.0, 2), minute).seconds == 120.0


def test_a_run_that_goes_on_is_taken_up_where_it_stands() -> None:
    """Half of the first minute is over."""
    state = state_of(task("a"), task("b"))
    run = Rehearsal(state, 0.0, minute)
    run.begin(1)
    apply(state, imagined(state, 0.0, f.PhaseStarted(TaskId("a"), 1, "implement", 1, "x")))
    assert rehearse(copied(state), Terms(30.0), minute).seconds == 90.0


def test_the_time_to_go_is_unknown_until_something_has_ended_and_then_goes_by_that() -> None:
    """Five tasks of two seconds: nothing to say of the first, and no ten minutes for each of the others."""
    state = state_of(*(task(f"t{number}") for number in range(5)))
    Rehearsal(state, 0.0, minute).begin(1)
    assert remaining_seconds(state, 0.0) is None
    assert foresee(state, Terms(0.0, 1)).is_guess
    done = state_of(*(task(f"t{number}") for number in range(5)))
    rehearse(done, Terms(0.0, 1, (TaskId("t0"),)), lambda *_: Fate(2.0))
    Rehearsal(done, 3.0, minute).begin(1)
    left = remaining_seconds(done, 3.0)
    assert left is not None
    assert 8.0 <= left <= 12.0


def test_what_takes_longer_than_expected_is_expected_to_take_a_share_of_that_longer() -> None:
    state = state_of(task("a"))
    Rehearsal(state, 0.0, minute).begin(1)
    apply(state, imagined(state, 0.0, f.PhaseStarted(TaskId("a"), 1, "implement", 1, "x")))
    assert rehearse(state, Terms(400.0), minute).seconds == 100.0


def test_the_original_is_not_touched_and_the_same_seed_says_the_same() -> None:
    state = planned(state_of(*(task(f"t{number}") for number in range(5))), [])
    before = copied(state)
    assert foresee(state, Terms(0.0, 2)) == foresee(state, Terms(0.0, 2))
    assert state == before


@pytest.mark.thorough
def test_more_slots_are_never_foretold_to_take_longer() -> None:
    """For independent tasks, with the same luck."""
    state = planned(state_of(*(task(f"t{number}") for number in range(6))), [])
    times = [foresee(state, Terms(0.0, slots)).seconds_p50 for slots in (1, 3, 8)]
    assert times == sorted(times, reverse=True)
    assert times[0] > times[-1]


def test_what_attempts_took_and_cost_is_foretold_of_the_next() -> None:
    """A8, K1: the tasks say an hour; the log has twenty that took a minute and a dime."""
    hour = {"estimate_seconds": 3600.0, "has_estimate": True}
    state = state_of(*(task(f"t{number}", category="docs", **hour) for number in range(20)))
    Rehearsal(state, 0.0, minute)
    rehearse(state, Terms(0.0, 4), lambda _task, _attempt: Fate(60.0, True, 2.0, 0.1))
    more = [f.TaskAccepted(task(f"n{number}", category="docs", **hour)) for number in range(4)]
    foreseen = foresee(planned(state, more), Terms(state.time, 1))
    assert foreseen.seconds_p50 == pytest.approx(4 * 62, rel=0.6)
    assert foreseen.cost_usd_p50 == pytest.approx(0.4, rel=0.6)
    assert foreseen.cost_usd_p50 and foreseen.cost_usd_p90
    assert foreseen.cost_usd_p90 >= foreseen.cost_usd_p50
    assert foreseen.evidence > 15


@pytest.mark.parametrize("lands_at", [1, 2])
def test_what_checks_took_is_foretold_of_the_next(lands_at: int) -> None:
    """A8: they hold up the lane, so a run of short work is mostly checks. Those that fail take as long."""
    state = state_of(task("a", category="docs"))
    rehearse(state, Terms(0.0, 1), lambda _task, attempt: Fate(1.0, attempt >= lands_at, 300.0))
    foreseen = foresee(planned(state, [f.TaskAccepted(task("b", category="docs"))]), Terms(state.time, 1))
    assert foreseen.seconds_p50 > 300.0


def test_nobody_says_a_price_that_nobody_paid() -> None:
    foreseen = foresee(planned(state_of(task("a")), []), Terms(0.0, 1))
    assert (foreseen.cost_usd_p50, foreseen.cost_usd_p90) == (None, None)
    assert Usage().cost_usd is None


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)])
def test_quantiles_lie_between_the_values(share: float, value: float) -> None:
    assert quantile([1.0, 2.0, 4.0], share) == pytest.approx(value)


def test_a_change_in_review_does_not_land_in_the_mind_and_others_do() -> None:
    """A14: no person decides there; when one has approved it, it lands without another check."""
    state = state_of(task("a"), task("b"))
    where = (TaskId("a"), 1)
    facts: list[f.Fact] = [
        f.PhaseStarted(*where, "implement", 1),
        f.WorkFinished(*where, "implement", 1, commit=Commit("w")),
        f.PhaseStarted(*where, "verify", 2),
        f.CandidatePassed(*where, "verify", 2, commit=Commit("c"), work=Commit("w"), digest="d"),
        f.PhaseStarted(*where, "land", 3),
        f.ReviewOpened(*where, "land", 3, digest="d", work=Commit("w"), commit=Commit("c")),
    ]
    for fact in facts:
        apply(state, imagined(state, 0.0, fact))
    outlook = rehearse(copied(state), Terms(0.0, 2), minute)
    assert (outlook.left, outlook.ends) == (1, {TaskId("b"): 60.0})
    apply(state, imagined(state, 0.0, f.ReviewApproved(TaskId("a"), "d", Commit("w"), Commit("c"))))
    assert rehearse(state, Terms(0.0, 2), minute).ends == {TaskId("a"): 0.0, TaskId("b"): 60.0}
