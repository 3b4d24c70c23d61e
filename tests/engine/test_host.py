"""The host brake (P6): memory first, processors where nobody said a number, and never below one."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock.engine.host import (
    SESSION_BYTES,
    SETTLE_SECONDS,
    HostReading,
    Load,
    LocalHost,
    host_step,
    safe_most,
)
from interlock.events.state_parts import Limit
from interlock.learn.clutch import Brake
from interlock.model.reason import Reason, Why
from tests.engine.scratch import INTERLOCK, WAIT, Background, Scratch

TOTAL = 32 << 30
LOAD = Load(busy=3, most=8, before=None)


def machine(room: int, **figures: float) -> HostReading:
    """With memory for so many more agents."""
    return replace(HostReading(TOTAL, TOTAL // 10 + room * SESSION_BYTES + 1), **figures)  # type: ignore[arg-type]  # figures by name


def braked(limit: int, time: float = 100.0) -> Limit:
    return Limit(limit, Brake.HOST, None, time)


def test_with_room_enough_nothing_changes() -> None:
    assert host_step(machine(20), LOAD, 100.0) is None


def test_no_more_agents_start_than_the_memory_is_enough_for() -> None:
    step = host_step(machine(2), LOAD, 100.0)
    assert step is not None
    assert (step.agents, step.brake) == (5, Brake.HOST)
    assert (step.why.code, step.why.number("agents")) == (Why.MEMORY_FOR, 2)


def test_when_memory_is_short_nobody_new_starts_and_nobody_is_ended() -> None:
    step = host_step(machine(0), LOAD, 100.0)
    assert step is not None
    assert (step.agents, step.brake) == (3, Brake.HOST)


def test_it_is_said_once_and_goes_down_only_if_it_gets_worse() -> None:
    held = replace(LOAD, before=braked(3))
    assert host_step(machine(0), held, 101.0) is None
    assert host_step(machine(0), held, 100.0 + SETTLE_SECONDS) is None
    worse = host_step(machine(-1), held, 100.0 + SETTLE_SECONDS)
    assert worse is not None
    assert worse.agents == 2


def test_programs_that_wait_for_memory_count_as_much_as_memory_that_is_gone() -> None:
    step = host_step(machine(20, memory_stalled=0.4), LOAD, 100.0)
    assert step is not None
    stalled = Reason(Why.STALLED, {"resource": "memory", "share": 0.4, "seconds": 10})
    assert (step.agents, step.why.cause) == (3, stalled)


def test_busy_processors_count_only_where_nobody_has_said_how_many() -> None:
    busy = machine(20, cpu_stalled=0.99)
    assert host_step(busy, LOAD, 100.0) is None
    assert host_step(busy, replace(LOAD, is_auto=True), 100.0) is not None


def test_after_a_while_of_calm_it_opens_by_one_and_at_last_lets_go() -> None:
    held = replace(LOAD, before=braked(3))
    assert host_step(machine(20), held, 101.0) is None
    step = host_step(machine(20), held, 100.0 + SETTLE_SECONDS)
    assert step is not None
    assert (step.agents, step.brake) == (4, Brake.HOST)
    last = host_step(machine(20), replace(LOAD, before=braked(7)), 100.0 + SETTLE_SECONDS)
    assert last is not None
    assert (last.agents, last.brake) == (8, Brake.MAX_PARALLEL)


def test_one_agent_may_always_work() -> None:
    step = host_step(machine(-5), Load(0, 8, None), 100.0)
    assert step is not None
    assert step.agents == 1


def test_fewer_at_work_lower_the_limit_at_once_while_memory_is_short() -> None:
    step = host_step(machine(0), Load(1, 8, braked(2)), 101.0)
    assert step is not None
    assert step.agents == 1


def test_an_agent_that_was_not_measured_yet_counts_as_half_a_gibibyte() -> None:
    assert HostReading(TOTAL, TOTAL // 10 + (3 << 29)).room == 3


def test_this_machine_can_be_read() -> None:
    reading = LocalHost().read()
    assert reading.cores >= 1
    assert 0 <= reading.available_bytes <= reading.total_bytes
    assert 0 <= reading.cpu_stalled <= 1
    assert 1 <= safe_most(reading) <= 30


def test_no_further_agent_starts_while_the_disk_is_nearly_full(tmp_path: Path) -> None:
    """What `disk_reserve_bytes` is for; no disk has an exbibyte free."""
    full = LocalHost(tmp_path, disk_reserve_bytes=1 << 60).read()
    step = host_step(replace(full, total_bytes=0, memory_stalled=0.0), Load(3, 8, None), 100.0)
    assert step is not None
    assert (step.agents, step.brake, step.why.cause) == (
        3,
        Brake.HOST,
        Reason(Why.DISK_LOW, {"free_bytes": full.disk_free_bytes, "reserve_bytes": 1 << 60}),
    )
    assert not LocalHost(tmp_path, disk_reserve_bytes=1).read().is_disk_low
    assert not LocalHost(tmp_path / "gone", disk_reserve_bytes=1 << 60).read().is_disk_low


@pytest.mark.slow
def test_a_run_on_a_nearly_full_disk_works_on_one_task_at_a_time_and_says_why(
    scratch: Scratch, gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_DISK_RESERVE_BYTES", str(10**17))
    scratch.graph("  a: {goal: x}\n  b: {goal: y}\n", WAIT.format(gate=gate) + "\ndate > $INTERLOCK_TASK_ID")
    run = Background([*INTERLOCK, "run"], scratch.root, scratch.env | {"INTERLOCK_HOST_BRAKE": "true"})
    scratch.started.append(run)
    run.wait_for_line("of the disk are free")
    run.wait_for_line("implement started")
    shown = scratch.read("status")
    assert "clutch: 1 in all (host: only" in shown
    assert "`interlock gc` makes room" in shown
    assert scratch.status()["counts"]["running"] == 1
    assert "below the reserve" in scratch.interlock("doctor", "--no-checks", code=None)
    gate.touch()
    assert run.wait() == 0
