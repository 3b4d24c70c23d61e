"""When a task is given up (W12)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from interlock.events import facts as f
from interlock.events.facts import TaskFailed
from interlock.events.lifecycle import Stage
from interlock.model.outcome import WAITS, ErrorClass
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Commit, Task, TaskId
from interlock.model.usage import Usage
from interlock.train.retry import (
    MAX_DEFERRALS,
    MAX_LOSS_SECONDS,
    MAX_LOSSES,
    QUICK_LOSSES,
    SPARE_ATTEMPTS,
    deferred,
    failure_delay,
    give_up,
    log_delay,
    lost,
    stopped,
    trouble_delay,
    used_up,
    wavered,
)
from interlock.ui.words.reasons import reason_text
from tests.events.journal import AGENT, Journal, failed

A = TaskId("a")


def running(retries: int = 3) -> Journal:
    journal = Journal(Task(A, "do a", AGENT, retries=retries))
    journal.start("a")
    return journal


def fail(journal: Journal, fingerprint: str) -> TaskFailed | None:
    """Fail once, and start again if that is allowed."""
    setback = failed(journal.task("a"), fingerprint)
    end = give_up(journal.task("a"), setback)
    journal.tell(setback, *([end] if end else []))
    if not end:
        journal.start("a")
    return end


@pytest.mark.parametrize(
    ("retries", "told"),
    [
        (0, "(failed once; no retries were allowed)"),
        (1, "(failed 2 times; 1 retry was allowed)"),
        (3, "(failed 4 times; 3 retries were allowed)"),
    ],
)
def test_after_as_many_retries_as_allowed_it_is_over(retries: int, told: str) -> None:
    journal = running(retries)
    ends = [fail(journal, f"failure {number}") for number in range(retries + 1)]
    assert ends[:-1] == [None] * retries
    assert ends[-1] and reason_text(ends[-1].why).endswith(told) and not ends[-1].breaker


def test_the_same_failure_twice_in_a_row_trips_the_breaker() -> None:
    journal = running()
    assert fail(journal, "same") is None
    end = fail(journal, "same")
    assert end and end.breaker and "exit 1" in reason_text(end.why)


def test_the_same_failure_with_another_in_between_does_not() -> None:
    journal = running()
    assert [fail(journal, name) for name in ("one", "other", "one")] == [None] * 3


def test_failures_that_nobody_can_tell_apart_are_not_taken_for_the_same() -> None:
    journal = running()
    assert [fail(journal, "") for _ in range(3)] == [None] * 3


def test_a_person_who_retries_wipes_the_strike() -> None:
    journal = running()
    fail(journal, "same")
    fail(journal, "same")
    journal.tell(f.TaskRetried(A))
    journal.start("a")
    assert fail(journal, "same") is None


def lose(journal: Journal) -> tuple[float, f.Paused | None]:
    """The holder of the task disappears: how long it waits now, and the pause if there is one."""
    task = journal.task("a")
    loss, *held = lost(task, (A, task.attempt, "implement", task.epoch), said("killed"), "")
    journal.tell(loss, *held)
    assert isinstance(loss, f.PhaseLost)
    return loss.retry_after_seconds, next((one for one in held if isinstance(one, f.Paused)), None)


def test_a_task_whose_holder_keeps_disappearing_waits_longer_and_longer_and_never_fails() -> None:
    journal = running(retries=0)
    delays = []
    for _ in range(MAX_LOSSES - 1):
        delay, held = lose(journal)
        assert held is None
        assert journal.task("a").stage is Stage.WAITING
        delays.append(delay)
        journal.start("a")
    assert delays[:QUICK_LOSSES] == [0.0] * QUICK_LOSSES
    assert delays[QUICK_LOSSES:] == sorted(delays[QUICK_LOSSES:])
    assert delays[QUICK_LOSSES] > 0 and delays[-1] == MAX_LOSS_SECONDS
    _, held = lose(journal)
    assert held and "killed" in reason_text(held.reason)
    assert journal.task("a").queue.paused and "killed" in reason_text(journal.task("a").queue.held_back)


def test_a_person_who_lets_a_held_back_task_go_on_gives_it_all_its_losses_again() -> None:
    journal = running()
    for _ in range(MAX_LOSSES):
        lose(journal)
        journal.start("a")
    lose(journal)
    journal.tell(f.Unpaused(A))
    assert journal.task("a").trouble.losses == 0 and not journal.task("a").queue.held_back


def setback(journal: Journal, error: ErrorClass, summary: str = "no") -> f.PhaseFailed:
    return replace(failed(journal.task("a"), "same"), error=error, why=said(summary))


@pytest.mark.parametrize("error", [ErrorClass.AUTH, ErrorClass.MISSING])
def test_what_only_a_person_can_change_ends_the_task_at_once(error: ErrorClass) -> None:
    journal = running()
    end = give_up(journal.task("a"), setback(journal, error, "set KEY"))
    assert end and "set KEY" in reason_text(end.why) and not end.breaker


@pytest.mark.parametrize("error", sorted(WAITS))
def test_a_model_that_cannot_be_had_ends_no_task_and_costs_it_no_attempt(error: ErrorClass) -> None:
    journal = running(retries=0)
    for _ in range(10 * SPARE_ATTEMPTS):
        fact = setback(journal, error)
        assert give_up(journal.task("a"), fact) is None
        journal.tell(fact)
        assert used_up(journal.task("a")) is None
        journal.start("a")
    assert journal.task("a").trouble.failures == []
    assert journal.task("a").trouble.attempts == 1


PAID = Usage(1000, 10, calls=1)


def break_off(journal: Journal) -> f.PhaseFailed:
    """The model answers, and breaks off before the agent is done."""
    return replace(setback(journal, ErrorClass.NETWORK), usage=PAID)


def hang_up(journal: Journal) -> f.PhaseFailed:
    """The attempt of a program that counts no tokens works for half an hour before its model is gone."""
    return replace(setback(journal, ErrorClass.OVERLOADED), seconds=1800.0)


def lose_it(journal: Journal) -> f.Fact:
    task = journal.task("a")
    return f.PhaseLost(A, task.attempt, "implement", task.epoch, said("killed"))


def defer_it(journal: Journal) -> f.Fact:
    task = journal.task("a")
    return f.PhaseDeferred(A, task.attempt, "implement", task.epoch, said("disk"), usage=PAID)


@pytest.mark.parametrize("layers", [(break_off,), (hang_up,), (lose_it,), (lose_it, defer_it, break_off)])
def test_attempts_that_cost_something_are_bounded_whatever_layer_ends_them(
    layers: tuple[Callable[[Journal], f.Fact], ...],
) -> None:
    journal = Journal(Task(A, "do a", AGENT, retries=3))
    started = 0
    while used_up(journal.task("a")) is None and started < 100:
        journal.start("a")
        journal.tell(layers[started % len(layers)](journal))
        started += 1
    assert started == 3 + 1 + SPARE_ATTEMPTS
    why = used_up(journal.task("a"))
    assert "it has had 24 attempts, however they ended, and may have 24" in reason_text(why)
    journal.tell(f.TaskFailed(A, journal.task("a").attempt, why), f.TaskRetried(A))
    assert used_up(journal.task("a")) is None


def test_a_task_that_lands_and_is_reopened_again_and_again_is_bounded_too() -> None:
    """A change passes on its own, makes main red, is undone, and is made once more."""
    journal = Journal(Task(A, "do a", AGENT, retries=0))
    for _ in range(1 + SPARE_ATTEMPTS):
        assert used_up(journal.task("a")) is None
        journal.work("a")
        journal.tell(f.TaskReopened(A, Commit(f"a-{journal.task('a').attempt}"), TaskId("undo")))
    assert used_up(journal.task("a"))
    assert journal.task("a").attempt == 1 + SPARE_ATTEMPTS


def test_what_a_person_stopped_costs_no_attempt() -> None:
    journal = running()
    for _ in range(5):
        task = journal.task("a")
        journal.tell(stopped((A, task.attempt, "implement", task.epoch), ""))
        journal.start("a")
    assert journal.task("a").trouble.attempts == 1


def test_a_provider_is_left_alone_as_long_as_it_asks_but_not_longer_than_a_day() -> None:
    task = running().task("a")
    asked = (0.0, 90.0, 86_400.0, 999_999.0)
    assert [failure_delay(task, ErrorClass.RATE_LIMIT, seconds) for seconds in asked] == [
        *(1, 90, 86_400, 86_400)
    ]
    assert failure_delay(task, ErrorClass.EXIT, 90.0) == 1


def test_waits_for_a_model_grow_to_ten_minutes_and_waits_after_a_failure_to_one() -> None:
    journal = running(retries=99)
    waits, failures = [], []
    for _ in range(12):
        waits.append(failure_delay(journal.task("a"), ErrorClass.NETWORK, 0.0))
        journal.tell(setback(journal, ErrorClass.NETWORK))
        journal.start("a")
    assert (waits[:3], waits[-1]) == ([1, 2, 4], 600)
    for number in range(8):
        failures.append(failure_delay(journal.task("a"), ErrorClass.EXIT, 0.0))
        fail(journal, f"failure {number}")
    assert failures == [1, 2, 4, 8, 16, 32, 60, 60]


def test_waits_are_counted_anew_after_any_other_result() -> None:
    journal = running()
    journal.tell(setback(journal, ErrorClass.RATE_LIMIT))
    journal.start("a")
    journal.tell(failed(journal.task("a"), "a failure"))
    assert journal.task("a").trouble.waits == 0


def test_trouble_outside_a_task_defers_it_and_after_twenty_times_in_a_row_counts_as_its_failure() -> None:
    journal, delays = running(), []
    for _ in range(MAX_DEFERRALS):
        task = journal.task("a")
        fact = deferred(task, (A, task.attempt, "implement", task.epoch), said("disk full"))
        assert fact
        delays.append(fact.retry_after_seconds)
        journal.tell(fact)
        journal.start("a")
    assert delays[:5] == [2, 4, 8, 16, 30] and delays[-1] == 30
    assert deferred(journal.task("a"), (A, 1, "implement", 99), said("disk full")) is None


def test_an_agent_that_fails_on_a_full_disk_again_and_again_counts_after_two_deferrals() -> None:
    """It may be what fills the disk: each of twenty sessions was paid for."""
    journal, full = running(), Reason(Why.DISK_FULL, {"cause": said("the agent exited 2")})
    for _ in range(2):
        task = journal.task("a")
        fact = deferred(task, (A, task.attempt, "implement", task.epoch), full)
        assert fact
        journal.tell(fact)
        journal.start("a")
    assert deferred(journal.task("a"), (A, 1, "implement", 99), full) is None
    assert deferred(journal.task("a"), (A, 1, "implement", 99), said("locked")), "this is no fault of it"


def test_a_check_that_wavers_on_main_goes_on_at_once_the_first_time_and_then_waits() -> None:
    journal, delays = running(), []
    for _ in range(3):
        task = journal.task("a")
        fact = wavered(task, (A, task.attempt, "implement", task.epoch), said("red on main"))
        delays.append(fact.retry_after_seconds)
        journal.tell(fact)
        journal.start("a")
    assert delays == [0, 2, 4]


def test_pauses_after_unexpected_trouble_and_of_a_log_that_cannot_be_used_grow_to_a_limit() -> None:
    assert [trouble_delay(times) for times in (1, 2, 3, 100)] == [5, 10, 20, 300]
    assert [log_delay(0.5, times) for times in (0, 1, 2, 100)] == [0.5, 1, 2, 10]
