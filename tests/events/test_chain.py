"""The log shows when somebody has been at it (W10)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from interlock.events.facts import Fact, MainSeen, Paused, kinds
from interlock.events.record import Recorded, chain, decode, encode, verify_chain
from interlock.model.errors import BrokenChain
from interlock.model.task import Commit, Task, TaskId, Tree
from tests.events.journal import AGENT, Journal


def log() -> list[Recorded]:
    journal = Journal(Task(TaskId("a"), "do a", AGENT))
    journal.work("a")
    journal.tell(MainSeen("main", Commit("m1"), Tree("t1")), Paused(None, "lunch"))
    return journal.rows


def test_an_untouched_log_is_counted() -> None:
    assert verify_chain(log()) == len(log())


TAMPERED: list[Callable[[Recorded], Recorded]] = [
    lambda row: replace(row, time=row.time + 1),
    lambda row: replace(row, actor="somebody else"),
    lambda row: replace(row, kind=row.kind + "x"),
    lambda row: replace(row, body=row.body + " "),
    lambda row: replace(row, hash="0" * 64),
]


@pytest.mark.parametrize("tampered", TAMPERED)
@pytest.mark.parametrize("at", [0, 3, 8])
def test_a_changed_fact_is_named(tampered: Callable[[Recorded], Recorded], at: int) -> None:
    rows = log()
    rows[at] = tampered(rows[at])
    with pytest.raises(BrokenChain, match=rf"fact {at + 1} \("):
        verify_chain(rows)


@pytest.mark.parametrize("at", [0, 4])
def test_a_missing_fact_is_named(at: int) -> None:
    rows = log()
    del rows[at]
    with pytest.raises(BrokenChain, match=f"fact {at + 1} is missing"):
        verify_chain(rows)


def test_two_facts_that_changed_places_are_named() -> None:
    rows = log()
    rows[2], rows[3] = rows[3], rows[2]
    with pytest.raises(BrokenChain, match="fact 3 is missing or out of order"):
        verify_chain(rows)


def test_a_fact_rewritten_with_a_fresh_hash_breaks_the_one_after_it() -> None:
    rows = log()
    body = rows[3].body.replace("a", "b")
    hash = chain(rows[2].hash, 4, rows[3].time, rows[3].actor, rows[3].kind, body)
    rows[3] = replace(rows[3], body=body, hash=hash)
    with pytest.raises(BrokenChain, match="fact 5"):
        verify_chain(rows)


def test_every_fact_of_a_log_reads_back_as_it_was_written() -> None:
    assert [encode(row.fact) for row in log()] == [(row.kind, row.body) for row in log()]


def test_a_fact_from_an_older_version_gets_the_defaults_of_fields_it_lacks() -> None:
    assert decode("Paused", "{}") == Paused(None, "")


@pytest.mark.parametrize("kind", kinds().values(), ids=lambda kind: kind.__name__)
def test_every_fact_is_named_in_the_past_tense_and_frozen(kind: type[Fact]) -> None:
    parts = ("ed", "Built", "Lost", "Stale", "Seen", "Gone", "Reset", "Said", "Undone", "Found", "GaveWay")
    assert kind.__name__.endswith(parts)
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # there on every dataclass
