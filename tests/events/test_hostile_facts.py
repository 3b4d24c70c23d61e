"""No fact, whatever it says, makes the fold raise; and no number from outside counts unchecked."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.limits import within_limits
from interlock.events.record import Recorded, Unreadable, decode, encode
from interlock.events.state import State
from interlock.events.state_parts import DoneTasks
from interlock.model.numbers import MOST, amount, bounded, exponential, logarithm, whole
from interlock.model.task import Commit, Task, TaskId
from interlock.model.usage import Usage
from tests.events.hostile import NUMBERS, Villain
from tests.events.journal import AGENT, Journal

A = TaskId("a")
WORK = f.WorkFinished(A, 1, "implement", 1, commit=Commit("c1"), seconds=5.0)


@pytest.mark.slow
@pytest.mark.property
@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_no_fact_makes_the_fold_raise(seed: int) -> None:
    kept = seed % 2 * 100
    villain = Villain(seed, kept)
    rows = [villain.tell() for _ in range(120)]
    assert fold(rows, State(done=DoneTasks(kept=kept))) == villain.state


def as_old_log(fact: f.Fact, **changed: object) -> Recorded:
    """The fact as a version without limits wrote it."""
    kind, body = encode(fact)
    return Recorded(3, 1_000.0, "old", kind, json.dumps({**json.loads(body), **changed}), "")


@pytest.mark.parametrize("tokens", [-5_000, -1, 10**30, 0])
def test_a_log_with_a_forged_sum_of_tokens_is_read_again(tokens: int) -> None:
    """The line that made every command fail: the sum of tokens was below 0, and has no logarithm."""
    journal = Journal(Task(A, "", AGENT))
    journal.start("a")
    usage = {"input_tokens": tokens, "output_tokens": 7, "cost_usd": -3.0}
    state = fold([as_old_log(WORK, usage=usage)], journal.state)
    assert state.tasks[A].phase.name == "verify"
    assert 0 <= state.tasks[A].spent.usage.input_tokens <= MOST
    assert state.tasks[A].spent.usage.cost_usd == 0.0


def test_a_field_that_makes_no_sense_is_left_out_where_the_fact_can_do_without() -> None:
    """A duration that was not a number was written as null, and could never be read again."""
    found = as_old_log(WORK, seconds=None).fact
    assert isinstance(found, f.WorkFinished)
    assert (found.commit, found.seconds) == ("c1", 0.0)


@pytest.mark.parametrize("body", ["", "{}", "[]", "null", "[" * 100_000, '{"task": "\\ud800"}', '{"task": 7'])
def test_a_row_that_is_no_fact_changes_nothing(body: str) -> None:
    journal = Journal(Task(A, "", AGENT))
    assert decode("Landed", body) == Unreadable("Landed")
    before = journal.state.tasks[A]
    state = fold([Recorded(3, 5.0, "", "Landed", body, "")], journal.state)
    assert (state.tasks[A], state.seq) == (before, 3)


@pytest.mark.parametrize("task", ["../../etc", "-x", "", "A B", "a\n"])
def test_a_task_whose_id_cannot_be_a_folder_is_not_taken_in(task: str) -> None:
    journal = Journal()
    journal.tell(f.TaskAccepted(Task(TaskId(task), "", AGENT)))
    assert journal.state.tasks == {}


def test_what_is_written_is_inside_the_limits_and_can_be_read() -> None:
    worse = f.WorkFinished(
        A,
        -1,
        "implement",
        10**30,
        commit=Commit("--output=x"),
        touched=("caf\udce9.py",),
        seconds=math.nan,
        usage=Usage(-5, 10**400, cost_usd=math.inf),
    )
    found = decode(*encode(worse))
    assert found == f.WorkFinished(
        A, 0, "implement", MOST, touched=("caf?.py",), usage=Usage(0, MOST, cost_usd=float(MOST))
    )


def test_a_fact_inside_the_limits_is_not_copied() -> None:
    assert within_limits(WORK) is WORK


def test_a_number_from_outside_is_a_count_and_an_amount_or_nothing() -> None:
    for value in (*NUMBERS, math.nan, math.inf, -math.inf, True, None, "7", [], {}, 10**5_000):
        assert 0 <= whole(value) <= MOST
        assert amount(value) is None or 0 <= (amount(value) or 0.0) <= MOST
        if isinstance(value, int | float):
            assert math.isfinite(logarithm(bounded(value)))
            assert 0 <= exponential(bounded(value, -MOST)) <= 1.01 * MOST
