"""What the log counts over all runs: K1, A8, P3. Nothing twice, nothing late, and less with every run."""

import math

import pytest
from hypothesis import given

from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.tallies import DECAY, Goodput, Sums, Tally
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said
from interlock.model.task import Agent, Task, TaskId
from interlock.model.usage import Usage
from tests.events.journal import Journal, Move, fact, moves, passed

A, B = TaskId("a"), TaskId("b")
BOT = Agent("bot", "command", ("bot",), model="small")


def docs(name: str, estimate_seconds: float = 60.0) -> Task:
    return Task(
        TaskId(name),
        f"write {name}",
        BOT,
        category="docs",
        estimate_seconds=estimate_seconds,
        has_estimate=True,
    )


def journal_of(*names: str) -> Journal:
    journal = Journal(*map(docs, names))
    journal.run()
    return journal


def tally(journal: Journal) -> Tally:
    return journal.state.learned.tallies.of("docs", "bot", "small")


def goodput(journal: Journal, agents: int) -> Goodput:
    return journal.state.learned.tallies.at("docs", agents)


def finish(
    journal: Journal, name: str, seconds: float, after: float = 1.0, usage: Usage | None = None
) -> None:
    task = journal.task(name)
    where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
    journal.tell(f.WorkFinished(*where, seconds=seconds, usage=usage), after=after)


def fail(journal: Journal, name: str, error: ErrorClass, seconds: float = 7.0) -> None:
    task = journal.task(name)
    where = (task.spec.id, task.attempt, task.phase.name, task.epoch)
    journal.tell(f.PhaseFailed(*where, error=error, seconds=seconds))


def test_an_attempt_that_lands_is_counted_once_with_its_time_its_tokens_and_its_price() -> None:
    journal = journal_of("a")
    journal.start("a")
    finish(journal, "a", 30.0, usage=Usage(900, 100, cost_usd=0.5))
    journal.work("a", phases=2)
    counted = tally(journal)
    assert (counted.landed, counted.failed, counted.conflicts) == (1, 0, 0)
    assert counted.seconds == Sums(1, math.log(30), math.log(30) ** 2)
    assert counted.estimated == Sums(
        1, math.log(30), math.log(30) ** 2, math.log(60), math.log(60) ** 2, math.log(30) * math.log(60)
    )
    assert counted.cost_usd.count == 1
    assert math.exp(counted.cost_usd.y) == pytest.approx(0.5)
    assert (counted.tokens.count, counted.paid_usd, counted.paid_tokens) == (1, 0.5, 1000)


@pytest.mark.parametrize(
    ("error", "failed", "conflicts"),
    [
        (ErrorClass.EXIT, 1, 0),
        (ErrorClass.NO_CHANGE, 1, 0),
        (ErrorClass.CONFLICT, 0, 1),
        (ErrorClass.RATE_LIMIT, 0, 0),
        (ErrorClass.AUTH, 0, 0),
        (ErrorClass.ENVIRONMENT, 0, 0),
    ],
)
def test_an_attempt_is_blamed_for_its_own_faults_only(error: ErrorClass, failed: int, conflicts: int) -> None:
    journal = journal_of("a")
    journal.start("a")
    fail(journal, "a", error)
    assert (tally(journal).failed, tally(journal).conflicts) == (failed, conflicts)
    assert tally(journal).seconds.count == 0  # how soon it gave up says nothing about how long the work takes


def test_running_out_of_time_says_how_long_it_takes_at_least() -> None:
    journal = journal_of("a")
    journal.start("a")
    fail(journal, "a", ErrorClass.TIMEOUT, seconds=1_800.0)
    assert tally(journal).seconds.count == 1


def test_a_failed_landing_is_tried_again_and_says_nothing_about_the_attempt() -> None:
    journal = journal_of("a")
    journal.work("a", phases=2)
    journal.start("a")
    fail(journal, "a", ErrorClass.EXIT)
    assert tally(journal).attempts == 0
    journal.work("a", phases=2)
    assert (tally(journal).landed, tally(journal).attempts) == (1, 1)


def test_a_result_that_comes_late_or_twice_is_not_counted() -> None:
    journal = journal_of("a")
    journal.start("a")
    late = passed(journal.task("a"))
    journal.tell(f.TaskReset(A))
    journal.tell(late)
    assert tally(journal).seconds.count == 0
    journal.work("a")
    journal.tell(journal.rows[-1].fact)
    assert (tally(journal).landed, tally(journal).seconds.count) == (1, 1)


def test_an_attempt_is_counted_under_the_number_of_agents_that_worked_beside_it() -> None:
    journal = journal_of("a", "b", "c")
    journal.start("a")
    journal.start("b")
    finish(journal, "b", 9.0, after=9.0)
    finish(journal, "a", 10.0, after=90.0)
    journal.work("a", phases=2)
    assert goodput(journal, 2) == Goodput(1, 9.0, wall_seconds=9.0, filled_seconds=9.0)
    first = {"first_landed": 1, "first_ended": 1}
    assert goodput(journal, 1) == Goodput(1, 100.0, landed=1, wall_seconds=91.0, filled_seconds=91.0, **first)


def test_first_attempts_are_counted_apart_from_those_after_a_failure() -> None:
    journal = journal_of("a", "b")
    journal.start("a")
    fail(journal, "a", ErrorClass.EXIT)
    journal.work("a")
    journal.start("b")
    fail(journal, "b", ErrorClass.RATE_LIMIT)
    journal.work("b")
    found = goodput(journal, 1)
    assert (found.landed, found.failed, found.first_landed, found.first_ended) == (2, 1, 1, 2)


def test_when_nobody_else_could_start_the_queue_did_not_fill_them() -> None:
    journal = journal_of("a")
    journal.start("a")
    finish(journal, "a", 9.0, after=9.0)
    assert goodput(journal, 1) == Goodput(1, 9.0, wall_seconds=9.0)


def test_the_time_in_which_nobody_was_in_charge_is_not_counted() -> None:
    journal = journal_of("a")
    journal.start("a")
    journal.tell(f.RunStarted("next", "holder", 2, 3), after=100_000.0)
    task = journal.task("a")
    journal.tell(f.PhaseLost(A, 1, "implement", task.epoch, why=said("gone")), after=5.0)
    assert goodput(journal, 1).wall_seconds == 5.0


def test_what_was_counted_fades_with_every_run_that_counted_something() -> None:
    """A run with nothing to do makes nothing older."""
    journal = journal_of("a", "b")
    journal.work("a")
    once = tally(journal).seconds.y
    journal.run()
    assert (tally(journal).landed, tally(journal).seconds.y) == (DECAY, once * DECAY)
    assert goodput(journal, 1).landed == DECAY
    journal.run()
    assert tally(journal).landed == DECAY
    journal.work("b")
    journal.run()
    assert tally(journal).landed == pytest.approx(DECAY**2 + DECAY)


@pytest.mark.slow
@pytest.mark.property
@given(moves)
def test_the_gauges_equal_what_a_look_at_every_task_finds(steps: list[Move]) -> None:
    journal = Journal()
    for move in steps:
        journal.tell(fact(journal, move), after=float(move[2]))
        state = journal.state
        for name, gauge in state.learned.tallies.gauges.items():
            at_work = [
                t
                for t in state.tasks.values()
                if t.has_agent and t.session.shift and t.session.shift.category == name
            ]
            assert gauge.at_work == len(at_work)
            assert gauge.queued == sum(task.queue.counted_as == name for task in state.tasks.values())
    assert journal.state.learned.tallies == fold(journal.rows).learned.tallies


@pytest.mark.slow
@pytest.mark.property
@given(moves)
def test_nothing_is_counted_more_often_than_it_happened(steps: list[Move]) -> None:
    journal = Journal()
    landed = attempts = 0
    for move in steps:
        told = fact(journal, move)
        changed = journal.tell(told, after=float(move[2]))
        counted = isinstance(told, f.PhaseFact) and told.task in changed
        landed += counted and isinstance(told, f.Landed)
        attempts += counted and isinstance(told, f.PhaseStarted) and told.phase == "implement"
    kinds = journal.state.learned.tallies.kinds.values()
    faded = any(isinstance(row.fact, f.RunStarted) for row in journal.rows)
    total = sum(each.landed for each in kinds)
    assert total <= landed if faded else total == landed
    assert sum(each.seconds.count for each in kinds) <= attempts
