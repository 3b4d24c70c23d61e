"""Nothing of a program outlives it, whatever it did and whoever died (A2)."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from interlock.model.errors import EnvironmentProblem
from interlock.model.process import Command, Ended
from interlock.process.containment import Containment
from interlock.process.processes import LocalProcesses
from tests.run.tree import (
    BOUND_SECONDS,
    DAEMON,
    KINDS,
    Marked,
    driver,
    end,
    linux,
    marked,
    possible,
    python_as_nobody,
)
from tests.tiers import rest_thorough

pytestmark = [linux, pytest.mark.slow]


@pytest.fixture(params=rest_thorough(KINDS, always=KINDS[:1]), ids=str)
def kind(request: pytest.FixtureRequest) -> Containment:
    return possible(request.param)


async def started(here: Marked) -> None:
    """Until the daemon has said that it is up."""
    await asyncio.to_thread(here.wait_until_up)


DEAF = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo up > \"$UP\"; while :; do sleep 600; done' &); "
FOREVER = "while :; do sleep 600; done"


@pytest.mark.parametrize("last", [Containment.GROUP, *KINDS], ids=str)
def test_a_daemon_ends_with_the_program_that_left_it(here: Marked, last: Containment) -> None:
    ended = asyncio.run(LocalProcesses(possible(last)).run(here.command(DAEMON + "exit 4")))
    assert ended.code == 4
    assert here.alive() == []


def test_a_daemon_without_its_environment_ends_too(here: Marked, kind: Containment) -> None:
    """Neither way looks for a mark: only the fallback for a killed supervisor does."""
    script = (
        f"(setsid env -i PATH=\"$PATH\" sh -c 'echo up > {here.env['UP']}; exec sleep 600' {here.mark} &) ; "
    )
    script += 'read _ < "$UP"'
    asyncio.run(LocalProcesses(kind).run(here.command(script)))
    lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not any(here.mark in line for line in lines)


def test_a_stray_that_holds_the_output_open_does_not_keep_us_waiting(here: Marked, kind: Containment) -> None:
    asyncio.run(LocalProcesses(kind).run(here.command("echo x; (setsid sleep 600 &)")))
    assert here.alive() == []


def test_a_deaf_grandchild_in_its_own_session_ends_at_the_timeout(here: Marked, kind: Containment) -> None:
    processes = LocalProcesses(kind, grace_seconds=0.2)

    async def timed_out() -> Ended:
        _, ended = await asyncio.gather(
            started(here), processes.run(here.command(DEAF + FOREVER, timeout_seconds=3.0))
        )
        return ended.ended

    assert asyncio.run(timed_out()) is Ended.TIMEOUT
    assert here.alive() == []


@pytest.mark.parametrize("times", [1, 2])
def test_when_cancelling_is_over_so_is_the_tree(here: Marked, kind: Containment, times: int) -> None:
    """Cancelled twice there is no grace: with a long one, only the second cancel makes this end."""
    processes = LocalProcesses(kind, grace_seconds=0.2 if times == 1 else 3600.0)

    async def cancelled() -> None:
        running = asyncio.create_task(processes.run(here.command(DEAF + FOREVER)))
        await started(here)
        for _ in range(times):
            running.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await running
        assert here.alive() == []

    asyncio.run(cancelled())


def noted(here: Marked) -> Command:
    return replace(here.command(DEAF + FOREVER), pid_file=str(here.folder / "pid"))


def supervision(here: Marked, kind: Containment) -> list[psutil.Process]:
    """Who holds the status pipe, and the supervisor; without a namespace these are one."""
    outer = psutil.Process(json.loads((here.folder / "pid").read_text())["pid"])
    return [outer, *outer.children()] if kind.is_namespace else [outer, outer]


def test_a_killed_supervisor_takes_the_tree_with_it(here: Marked, kind: Containment) -> None:
    processes = LocalProcesses(kind)

    async def orphaned(depth: int) -> None:
        running = asyncio.create_task(processes.run(noted(here)))
        await started(here)
        supervision(here, kind)[depth].kill()
        with pytest.raises(EnvironmentProblem, match="supervisor of sh ended early"):
            await running
        assert here.alive() == []

    asyncio.run(orphaned(0))
    asyncio.run(orphaned(1))


@pytest.mark.crash
def test_a_killed_engine_leaves_nothing(here: Marked, kind: Containment) -> None:
    engine = driver(kind, str(here.folder), here.mark, "0", DEAF + FOREVER)
    here.wait_until_up()
    assert here.alive()
    end(engine)
    here.wait_until_gone()


@pytest.mark.crash
def test_a_paused_engine_cannot_keep_an_agent_past_its_lease(here: Marked, kind: Containment) -> None:
    """D4: what the store gives away meanwhile must not have two workers."""
    engine = driver(kind, str(here.folder), here.mark, "6", DEAF + FOREVER)
    here.wait_until_up()
    engine.send_signal(signal.SIGSTOP)
    here.wait_until_gone()
    assert "lease" in end(engine, signal.SIGCONT)


@pytest.mark.crash
def test_a_stuck_supervisor_is_ended_by_the_engine(here: Marked, kind: Containment) -> None:
    """A supervisor that hangs must not hang the engine."""
    processes = LocalProcesses(kind, grace_seconds=0.0)

    async def stuck() -> None:
        running = asyncio.create_task(processes.run(noted(here)))
        await started(here)
        supervision(here, kind)[1].suspend()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, BOUND_SECONDS)

    asyncio.run(stuck())
    here.wait_until_gone()


@pytest.fixture
def shared() -> Iterator[Marked]:
    """A folder for everybody; pytest's own are for one user alone."""
    with TemporaryDirectory() as name:
        here = marked(Path(name))
        here.folder.chmod(0o777)
        Path(here.env["UP"]).chmod(0o666)
        yield here


@pytest.mark.skipif(os.geteuid() != 0, reason="then the other tests already run as somebody without rights")
def test_who_is_not_root_is_contained_as_well(shared: Marked, kind: Containment) -> None:
    """In a user namespace where the kernel allows it, and with what is left where it does not."""
    forced = "" if kind.is_namespace else kind
    script = DAEMON + "id -u; exit 5"
    engine = driver(forced, str(shared.folder), shared.mark, "0", script, before=python_as_nobody())
    containment, *ended = engine.communicate(timeout=BOUND_SECONDS)[0].split()[:3]
    assert ended == ["exited", "5"]
    assert containment in ((kind,) if forced else (Containment.USER_NAMESPACE, Containment.SUBREAPER))
    assert shared.log.read_text() == "65534\n"
    shared.wait_until_gone()


@pytest.mark.crash
@pytest.mark.skipif(os.geteuid() != 0, reason="then the other tests already run as somebody without rights")
def test_a_killed_engine_of_somebody_without_rights_leaves_nothing(shared: Marked) -> None:
    words = ("", str(shared.folder), shared.mark, "0", DEAF + FOREVER)
    engine = driver(*words, before=python_as_nobody())
    shared.wait_until_up()
    end(engine)
    shared.wait_until_gone()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give rights away")
def test_without_the_right_to_make_namespaces_the_next_best_is_taken(here: Marked) -> None:
    bare = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable)
    engine = driver("", str(here.folder), here.mark, "0", DAEMON, before=bare)
    assert engine.communicate(timeout=BOUND_SECONDS)[0].split()[:2] == ["subreaper", "exited"]
    here.wait_until_gone()


@pytest.mark.parametrize("megabytes", [64, pytest.param(1024, marks=pytest.mark.night)])
def test_a_huge_log_is_kept_whole_and_takes_no_memory(here: Marked, megabytes: int) -> None:
    script = f"yes 'a line of some length, as programs write them' | head -c {megabytes}M"
    engine = driver("", str(here.folder), here.mark, "0", script)
    _, ended, code, _, size, grown_kib = engine.communicate(timeout=600)[0].split()
    assert (ended, code, int(size)) == ("exited", "0", megabytes * 1024**2)
    assert here.log.stat().st_size == int(size)
    assert int(grown_kib) < 16 * 1024
