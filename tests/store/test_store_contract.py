"""What every Store promises, checked on all of them (D4, W10, I1-I3)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import fields
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from interlock.engine.loading import load_state
from interlock.events.facts import (
    Fact,
    Landed,
    MessageSaid,
    Paused,
    PhaseStarted,
    PlanAccepted,
    RunStarted,
    TaskAccepted,
    kinds,
)
from interlock.events.fold import fold
from interlock.events.record import GENESIS, seal
from interlock.events.snapshot import VERSION, pack, sealed
from interlock.events.state import State
from interlock.model.claim import CONTROLLER, task_resource
from interlock.model.errors import BrokenChain, UsageError
from interlock.model.task import Agent, Commit, Task, TaskId
from interlock.store import Store, open_store
from tests.store.logs import HOUR, LONG, Log, memory_log, names, reset, take, whole_log

pytestmark = pytest.mark.contract
DIGEST = 32
"""Bytes of a snapshot before its content."""

# Appending and reading


def test_what_is_appended_is_read_back_in_order_and_chained(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        assert await one.head() == 0
        written = await one.append([reset("a", "ünïcode \n 💥"), reset("b")], "anna")
        written += await two.append([reset("c")], "bert")
        assert [row.seq for row in written] == [1, 2, 3]
        assert await whole_log(two) == written == await whole_log(one)
        assert [row.actor for row in written] == ["anna", "anna", "bert"]
        assert written[0].fact == reset("a", "ünïcode \n 💥")
        assert await one.head() == await two.head() == 3

    log.play(story)


def test_reading_starts_after_a_position_and_stops_at_the_limit(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.append([reset(str(n)) for n in range(10)], "anna")
        assert names(await two.read(3, 4)) == ["3", "4", "5", "6"]
        assert await two.read(10) == []
        assert await two.read(99) == []

    log.play(story)


def test_appending_nothing_writes_nothing(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        assert await one.append([], "anna") == []
        assert await one.head() == 0

    log.play(story)


def test_the_time_of_the_log_is_the_time_of_day(disk_log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        (row,) = await one.append([reset("a")], "anna")
        assert abs(row.time - time.time()) < 3_600
        assert abs(await one.now() - time.time()) < 3_600

    disk_log.play(story)


def test_a_batch_has_one_time_and_times_never_run_backwards(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        before = await one.now()
        for store in (one, two) * 5:
            await store.append([reset("a"), reset("b")], "anna")
        times = [row.time for row in await whole_log(one)]
        assert times == sorted(times)
        assert times[::2] == times[1::2]
        assert before <= times[0]
        assert times[-1] <= await two.now()

    log.play(story)


def test_a_log_from_a_clock_that_was_ahead_goes_on_at_its_last_time(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        await one.restore(lines_of([exported(1, 9e9, reset("ahead"))]))
        later = await one.append([reset("now")], "anna")
        assert later[0].time == 9e9
        await whole_log(one)

    log.play(story)


def test_a_name_that_is_too_long_for_an_index_is_kept(log: Log) -> None:
    long = reset("".join(uuid4().hex for _ in range(300)))

    async def story(one: Store, _: Store) -> None:
        await one.restore(lines_of([exported(1, 5.0, long)]))
        assert [row.fact for row in await whole_log(one)] == [long]

    log.play(story)


def test_two_connections_that_append_at_once_make_one_chain_without_a_gap(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        async def write(store: Store, actor: str) -> None:
            for n in range(20):
                await store.append([reset(f"{actor}{n}")], actor)

        await asyncio.gather(write(one, "anna"), write(two, "bert"), write(two, "carl"))
        rows = await whole_log(one)
        assert sorted(names(rows)) == sorted(
            f"{who}{n}" for who in ("anna", "bert", "carl") for n in range(20)
        )
        for who in ("anna", "bert", "carl"):
            own = names([row for row in rows if row.actor == who])
            assert own == [f"{who}{n}" for n in range(20)]

    log.play(story)


# Waiting


def test_waiting_ends_with_an_append_from_another_connection(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.append([reset("a")], "anna")
        waiting = asyncio.create_task(two.wait(1, HOUR))
        assert await two.wait(1, 0.01) is False
        assert not waiting.done()
        await one.append([reset("b")], "anna")
        assert await waiting is True

    log.play(story)


def test_waiting_ends_with_an_append_on_the_same_connection(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        waiting = [asyncio.create_task(one.wait(0, HOUR)) for _ in range(3)]
        assert await one.wait(0, 0.01) is False
        await one.append([reset("a")], "anna")
        assert await asyncio.gather(*waiting) == [True, True, True]

    log.play(story)


def test_waiting_for_what_is_already_there_returns_at_once(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.append([reset("a")], "anna")
        assert await two.wait(0, 0) is True

    log.play(story)


def test_waiting_is_not_ended_by_a_renewal(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r")
        waiting = asyncio.create_task(two.wait(0, 0.15))
        await one.renew(claim, LONG)
        assert await waiting is False

    log.play(story)


# The facts about one task, or one commit


def test_the_facts_about_a_task_are_found_however_they_name_it(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        spec = Task(TaskId("a"), 'say "task":"b"', Agent("x", "command"))
        about = [TaskAccepted(spec), MessageSaid(TaskId("a"), '{"task":"b"}'), reset("a", "b")]
        other = [reset("b", "a"), Paused(), PlanAccepted("a", "b", 1)]
        await one.append([about[0], other[0], other[1], about[1], other[2], about[2]], "anna")
        assert [row.fact for row in await two.about_task(TaskId("a"))] == about
        assert [row.seq for row in await two.about_task(TaskId("b"))] == [2]
        assert await two.about_task(TaskId("c")) == []

    log.play(story)


def test_the_facts_about_a_commit_are_found_by_its_first_letters(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        key = (TaskId("a"), 1, "land", 3)
        await one.append(
            [Landed(*key, commit=Commit("abc1234f")), Landed(*key, commit=Commit("abd"))], "anna"
        )
        await one.append([reset("a", '"commit":"abc1234f"'), Landed(*key, base=Commit("abc1234f"))], "anna")
        assert [row.seq for row in await two.about_commit("abc1234")] == [1]
        assert [row.seq for row in await two.about_commit("ab")] == [1, 2]
        assert await two.about_commit("abc1234f0") == []

    log.play(story)


def test_every_fact_about_a_task_names_it_first() -> None:
    """The index of Postgres looks there, as the text of a body need not be JSON."""
    about = [[field.name for field in fields(kind)] for kind in kinds().values()]
    assert all(names[0] == "task" for names in about if "task" in names)


# Snapshots


def test_the_newest_snapshot_comes_back_with_the_hash_of_its_fact(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        assert await one.load_snapshot() is None
        await one.save_snapshot(0, b"empty")
        assert await two.load_snapshot() == (0, GENESIS, b"empty")
        rows = await one.append([reset("a"), reset("b"), reset("c")], "anna")
        await one.save_snapshot(2, b"\x00two\xff")
        await two.save_snapshot(1, b"older")
        assert await two.load_snapshot() == (2, rows[1].hash, b"\x00two\xff")

    log.play(story)


def test_a_snapshot_of_a_fact_that_is_not_there_does_not_count(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.append([reset("a")], "anna")
        await one.save_snapshot(2, b"from the future")
        assert await two.load_snapshot() is None

    log.play(story)


def test_a_snapshot_with_a_changed_byte_is_passed_over_and_the_log_is_folded(log: Log) -> None:
    """A task counted as done that no fact says has landed."""

    async def story(one: Store, two: Store) -> None:
        rows = await one.append([TaskAccepted(Task(TaskId("a"), "g", Agent("x", "command")))], "anna")
        whole = pack(fold(rows))
        damaged = whole.replace(b"waiting", b"removed")
        assert damaged != whole
        for data in (damaged, whole[:40], b"", whole + b" "):
            await one.save_snapshot(1, data)
            assert await load_state(two) == fold(rows)

    log.play(story)


def test_a_snapshot_of_another_version_is_passed_over_and_the_log_is_folded(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        rows = await one.append([TaskAccepted(Task(TaskId("a"), "g", Agent("x", "command")))], "anna")
        no_task = State(rows[0].seq, rows[0].time, rows[0].hash)
        of_this = pack(no_task)
        await one.save_snapshot(1, of_this)
        assert await load_state(two) == no_task  # a shortcut is taken where it fits
        for version in (VERSION - 1, VERSION + 1):
            other = of_this[DIGEST:].replace(b"version" + bytes([VERSION]), b"version" + bytes([version]))
            assert other != of_this[DIGEST:]
            await one.save_snapshot(1, sealed(other))
            assert await load_state(two) == fold(rows)

    log.play(story)


# Export and restore


async def lines_of(lines: Sequence[str]) -> AsyncIterator[str]:
    for line in lines:
        yield line


def exported(seq: int, time: float, fact: Fact) -> str:
    return msgspec.json.encode(seal(GENESIS, seq, time, "anna", fact)).decode()


async def export(store: Store) -> list[str]:
    return [line async for line in store.export()]


def test_an_exported_log_is_restored_as_the_identical_chain(log: Log, tmp_path: Path) -> None:
    """Into a SQLite file and from there into the log under test, so every pair of stores is crossed."""

    async def story(one: Store, two: Store) -> None:
        source, between = memory_log().connect(), open_store(str(tmp_path / "between.db"), "")
        try:
            await source.append([reset(f"t{n}", "ü\n") for n in range(1500)], "anna")
            await source.append([reset("last")], "bert")
            assert await between.restore(source.export()) == 1501
            assert await one.restore(between.export()) == 1501
            assert await export(two) == await export(source)
            assert await whole_log(two) == await whole_log(source)
            assert await two.wait(0, 0) is True
            await two.append([reset("goes on")], "anna")
            assert names(await whole_log(one))[-2:] == ["last", "goes on"]
        finally:
            await between.close()

    log.play(story)


def test_every_exported_line_is_one_fact_with_its_hash(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        (row,) = await one.append([reset("a", 'a "quoted"\nline')], "anna")
        (line,) = await export(one)
        assert "\n" not in line
        assert json.loads(line) == {
            "seq": 1,
            "time": row.time,
            "actor": "anna",
            "kind": "TaskReset",
            "body": row.body,
            "hash": row.hash,
        }

    log.play(story)


def test_a_log_that_has_facts_is_not_restored_over(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.append([reset("mine")], "anna")
        lines = await export(one)
        with pytest.raises(UsageError, match="already holds 1 facts"):
            await two.restore(lines_of(lines))
        assert names(await whole_log(one)) == ["mine"]

    log.play(story)


@pytest.mark.parametrize("damage", ["changed", "missing", "swapped", "cut"])
def test_a_damaged_export_restores_nothing(log: Log, damage: str) -> None:
    async def story(one: Store, _: Store) -> None:
        source = memory_log().connect()
        await source.append([reset("a"), reset("b"), reset("c")], "anna")
        a, b, c = await export(source)
        lines, error = {
            "changed": ([a, b.replace("anna", "bert"), c], "fact 2"),
            "missing": ([a, c], "fact 2"),
            "swapped": ([a, c, b], "fact 2"),
            "cut": ([a, b, c[:20]], "line 3"),
        }[damage]
        with pytest.raises(UsageError if damage == "cut" else BrokenChain, match=error):
            await one.restore(lines_of(lines))
        assert await one.head() == 0

    log.play(story)


def test_epochs_go_on_rising_after_a_restore(log: Log) -> None:
    """The fence in git and the facts know the old epochs; a claim that began at 1 again would be stale."""

    async def story(one: Store, two: Store) -> None:
        source = memory_log().connect()
        task = TaskId("a")
        await source.append([RunStarted("run", "anna", 4, 3), PhaseStarted(task, 1, "implement", 7)], "anna")
        await one.save_snapshot(0, b"of the empty log")
        await one.restore(source.export())
        assert await two.load_snapshot() is None
        assert await two.held() == []
        assert (await take(two, CONTROLLER)).epoch == 5
        assert (await take(two, task_resource(task))).epoch == 8

    log.play(story)


def test_a_closed_store_opens_again_when_it_is_used(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        await one.append([reset("a")], "anna")
        await one.close()
        await one.close()
        assert names(await whole_log(one)) == ["a"]
        assert await one.wait(1, 0.01) is False

    log.play(story)
