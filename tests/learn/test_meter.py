"""The figures that a run keeps up as it goes (P3, P7, A21)."""

import pytest

from interlock.engine.slots import MEASURE_SECONDS, Gauges, figures_of
from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.learn import Meter
from interlock.model.outcome import ErrorClass
from interlock.model.pool import PoolFigures
from interlock.model.reason import said
from interlock.model.task import Agent, Task, TaskId
from interlock.schedule import Board
from tests.events.journal import AGENT, Journal

A, B = TaskId("a"), TaskId("b")
OTHER = Agent("other", "command", ("other",))


class Watched(Journal):
    """A log that a meter looks on at, as the loop's does."""

    def __init__(self, *specs: Task, slots: int = 2) -> None:
        self.meter = Meter()
        super().__init__(*specs)
        self.run(slots)

    def tell(self, *facts: f.Fact, after: float = 1.0) -> set[TaskId]:
        changed: set[TaskId] = set()
        for fact in facts:
            seen = len(self.rows)
            changed |= super().tell(fact, after=after)
            self.meter = self.meter.after(self.rows[seen], self.state, changed)
        return changed

    @property
    def figures(self) -> PoolFigures:
        return figures_of(self.state, Board(self.state), self.meter)

    def begin(self, name: TaskId, attempt: int = 1, agent: str = "scripted", after: float = 1.0) -> None:
        task = self.state.tasks[name]
        self.tell(
            f.PhaseStarted(name, attempt, "implement", task.epoch + 1, "holder", agent=agent), after=after
        )


def tasks() -> tuple[Task, Task]:
    return Task(A, "do a", AGENT, agents=(AGENT, OTHER)), Task(B, "do b", AGENT)


def test_an_agent_at_work_counts_before_it_has_ended() -> None:
    log = Watched(*tasks())
    log.begin(A)
    log.tell(f.Unpaused(), after=9.0)
    assert log.figures.busy == 1
    assert log.figures.queue == 1
    assert log.figures.utilization == pytest.approx(9 / 20)


def test_a_slot_is_idle_from_the_fact_that_makes_a_start_possible_until_the_start() -> None:
    log = Watched(*tasks())
    log.meter.decided([A, B], log.time)
    log.begin(A, after=2.0)
    log.begin(B, after=2.0)
    assert log.figures.idle_share == pytest.approx((2 + 4) / (2 * 4))
    assert (log.meter.waiting(0.0), log.meter.waiting(1.0)) == (2.0, 4.0)


def test_a_slot_without_a_task_for_it_is_not_idle() -> None:
    log = Watched(*tasks())
    log.begin(A)
    log.meter.decided([], log.time)
    log.tell(f.Unpaused(), after=60.0)
    assert log.figures.idle_share == 0.0


def test_what_could_start_and_does_not_is_idle_as_well() -> None:
    log = Watched(*tasks())
    log.meter.decided([A], log.time)
    log.tell(f.Unpaused(), after=10.0)
    assert log.figures.idle_share == pytest.approx(10 / 20)
    log.meter.decided([], log.time)
    assert log.figures.idle_share == 0.0


def test_a_limit_that_changes_counts_from_then_on() -> None:
    log = Watched(*tasks(), slots=1)
    log.begin(A, after=0.0)
    log.tell(f.ClutchDecided(4, "host", None), after=10.0)
    log.tell(f.Unpaused(), after=10.0)
    assert log.figures.slots == 4
    assert log.figures.utilization == pytest.approx(20 / (10 + 40))


def test_an_attempt_that_goes_to_another_agent_or_is_begun_again_after_a_loss_is_a_reassignment() -> None:
    log = Watched(*tasks())
    log.begin(A)
    log.tell(f.PhaseFailed(A, 1, "implement", 1, ErrorClass.EXIT, said("exit 1"), "x"))
    log.begin(A, 2, "other")
    assert (log.figures.reassignments, log.figures.retry_rate) == (1, 0.5)
    log.tell(f.PhaseLost(A, 2, "implement", 2, why=said("gone")))
    log.begin(A, 3, "other")
    assert log.figures.reassignments == 2


def test_what_a_person_had_to_do_is_counted() -> None:
    log = Watched(*tasks())
    log.tell(f.TaskReset(A), f.TaskReset(TaskId("nobody")))
    assert log.figures.by_hand == 1


def test_a_fact_that_comes_twice_counts_once() -> None:
    log = Watched(*tasks())
    for _ in range(2):
        log.tell(f.PhaseStarted(A, 1, "implement", 1, "holder", agent="scripted"))
    assert log.figures.attempts == 1


def test_a_new_run_begins_with_new_figures() -> None:
    log = Watched(*tasks())
    log.begin(A)
    log.run(1)
    assert (log.figures.attempts, log.figures.busy) == (0, 0)


def test_figures_are_written_once_a_minute_and_only_if_something_happened() -> None:
    log, gauges = Watched(*tasks()), Gauges("run")

    def due() -> list[f.Fact]:
        return gauges.due(log.state, Board(log.state), log.meter, log.time)

    assert due() == []
    log.begin(A)
    assert due() == []
    log.tell(f.Unpaused(), after=MEASURE_SECONDS)
    (written,) = due()
    assert isinstance(written, f.PoolMeasured)
    assert written.figures == log.figures
    log.tell(f.Unpaused(), after=MEASURE_SECONDS)
    assert due() == []


def test_what_was_measured_last_is_part_of_state() -> None:
    log = Watched(*tasks())
    log.begin(A)
    measured = f.PoolMeasured("run", log.figures)
    log.tell(measured)
    assert log.state.learned.pool and log.state.learned.pool.figures == measured.figures
    again = Journal().state
    for row in log.rows:
        apply(again, row)
    assert again.learned.pool == log.state.learned.pool
