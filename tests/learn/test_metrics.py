"""The figures of a run, from facts written by hand (P3)."""

import pytest

from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.record import Recorded
from interlock.learn import Metrics, measure
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.store.log import Head, rows_after

A, B = TaskId("a"), TaskId("b")
BOT = Agent("bot", "command", ("bot",))
TIP = Commit("c" * 40)
ACCEPTED = ((0.0, f.TaskAccepted(Task(A, "x", BOT))), (0.0, f.TaskAccepted(Task(B, "x", BOT))))
RUN = (10.0, f.RunStarted("r", "h", 1, 2))

Timed = tuple[float, f.Fact]


def log(*facts: Timed, head: Head | None = None) -> list[Recorded]:
    """Facts, each at its time."""
    rows: list[Recorded] = []
    end = head or Head()
    for time, fact in facts:
        rows += rows_after(end, time, "test", [fact])
        end = Head(rows[-1].seq, rows[-1].hash, rows[-1].time)
    return rows


def started(task: TaskId, attempt: int, epoch: int, phase: str = "implement") -> f.PhaseStarted:
    return f.PhaseStarted(task, attempt, phase, epoch, "h")


def failed(task: TaskId, attempt: int, epoch: int, phase: str, error: ErrorClass) -> f.PhaseFailed:
    return f.PhaseFailed(task, attempt, phase, epoch, error, said("no"), f"{phase}{epoch}")


def way_to_main(
    task: TaskId, attempt: int, epoch: int, began: float, agent: float, lane: float
) -> list[Timed]:
    """An attempt that lands: so long for its agent, so long for its checks, and no time to land."""
    done, landed = began + agent, began + agent + lane
    return [
        (began, started(task, attempt, epoch)),
        (done, f.WorkFinished(task, attempt, "implement", epoch, commit=TIP)),
        (done, started(task, attempt, epoch + 1, "verify")),
        (landed, f.CandidatePassed(task, attempt, "verify", epoch + 1, commit=TIP, tree=Tree("t"), work=TIP)),
        (landed, started(task, attempt, epoch + 2, "land")),
        (landed, f.Landed(task, attempt, "land", epoch + 2, commit=TIP)),
    ]


def measured(*facts: Timed) -> Metrics:
    return measure(log(*ACCEPTED, RUN, *facts))


def test_a_run_that_did_nothing_has_no_figures() -> None:
    metrics = measured((15.0, f.RunEnded("r", None)))
    assert (metrics.makespan_seconds, metrics.attempts, metrics.landed, metrics.overlap) == (5.0, 0, 0, 0.0)


def test_two_agents_at_once_are_faster_than_one() -> None:
    both = [
        *way_to_main(A, 1, 1, 10.0, agent=6.0, lane=2.0),
        *way_to_main(B, 1, 1, 10.0, agent=8.0, lane=2.0),
    ]
    metrics = measured(*sorted(both, key=lambda timed: timed[0]), (20.0, f.RunEnded("r", None)))
    assert (metrics.landed, metrics.attempts, metrics.retries) == (2, 2, 0)
    assert (metrics.makespan_seconds, metrics.agent_seconds, metrics.lane_seconds) == (10.0, 14.0, 4.0)
    assert metrics.overlap == pytest.approx(1.8)
    assert metrics.utilization == pytest.approx(14.0 / 20.0)


def test_setbacks_are_counted_by_their_kind_and_tries_after_them_are_retries() -> None:
    metrics = measured(
        (10.0, started(A, 1, 1)),
        (12.0, failed(A, 1, 1, "implement", ErrorClass.EXIT)),
        (12.0, started(A, 2, 2)),
        (14.0, f.WorkFinished(A, 2, "implement", 2, commit=TIP)),
        (14.0, started(A, 2, 3, "verify")),
        (15.0, failed(A, 2, 3, "verify", ErrorClass.CONFLICT)),
        (15.0, started(A, 3, 4)),
        (17.0, f.WorkFinished(A, 3, "implement", 4, commit=TIP)),
        (17.0, started(A, 3, 5, "verify")),
        (18.0, failed(A, 3, 5, "verify", ErrorClass.CHECK)),
        *way_to_main(A, 4, 6, 18.0, agent=2.0, lane=1.0),
    )
    assert (metrics.attempts, metrics.retries, metrics.landed) == (4, 3, 1)
    assert (metrics.conflicts, metrics.red_checks, metrics.lost, metrics.rebuilt) == (1, 1, 0, 0)
    assert (metrics.agent_seconds, metrics.lane_seconds) == (8.0, 3.0)


def test_the_time_of_an_agent_ends_when_it_exits_and_a_loss_after_that_still_counts() -> None:
    metrics = measured(
        (10.0, started(A, 1, 1)),
        (13.0, f.AgentExited(A, 1, "implement", 1)),
        (19.0, f.PhaseLost(A, 1, "implement", 1, said("killed"))),
    )
    assert (metrics.agent_seconds, metrics.lost, metrics.landed) == (3.0, 1, 0)


def test_an_agent_that_a_person_stopped_has_worked_until_then() -> None:
    metrics = measured((10.0, started(A, 1, 1)), (14.0, f.TaskCancelled(A, "no longer wanted")))
    assert metrics.agent_seconds == 4.0


def test_a_candidate_that_main_overtook_is_built_again() -> None:
    way = way_to_main(A, 1, 1, 10.0, agent=2.0, lane=2.0)[:-1]
    metrics = measured(*way, (14.0, f.CandidateStale(A, 1, "land", 3, base=TIP, main=Commit("m" * 40))))
    assert (metrics.rebuilt, metrics.landed) == (1, 0)


def test_waiting_is_from_being_free_to_the_start() -> None:
    """B is free from the start of the run; A's second attempt only after its delay."""
    metrics = measured(
        (11.0, started(A, 1, 1)),
        (12.0, failed(A, 1, 1, "implement", ErrorClass.EXIT)),
        (14.0, started(A, 2, 2)),
        (17.0, started(B, 1, 1)),
    )
    assert (metrics.waiting_p50_seconds, metrics.waiting_p99_seconds) == (2.0, 7.0)


def test_what_stands_twice_or_came_too_late_counts_once() -> None:
    """A write that was repeated after a lost answer leaves its facts twice."""
    way = way_to_main(A, 1, 1, 10.0, agent=2.0, lane=2.0)
    late = (15.0, f.PhaseLost(A, 1, "implement", 1, said("given up")))
    metrics = measured(way[0], *way, way[-1], late)
    assert (metrics.attempts, metrics.landed, metrics.lost) == (1, 1, 0)
    assert (metrics.agent_seconds, metrics.lane_seconds) == (2.0, 2.0)


def test_only_the_last_run_counts_and_its_own_rows_are_enough() -> None:
    before = log(
        *ACCEPTED, RUN, *way_to_main(A, 1, 1, 10.0, agent=6.0, lane=2.0), (18.0, f.RunEnded("r", None))
    )
    end = Head(before[-1].seq, before[-1].hash, before[-1].time)
    second = [(30.0, f.RunStarted("s", "h", 2, 2)), *way_to_main(B, 1, 1, 31.0, agent=3.0, lane=1.0)]
    after = log(*second, (36.0, f.RunEnded("s", None)), head=end)
    metrics = measure([*before, *after])
    assert (metrics.landed, metrics.agent_seconds, metrics.makespan_seconds) == (1, 3.0, 6.0)
    assert measure(after, fold(before)) == metrics
