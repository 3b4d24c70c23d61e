"""Supervisors that are ready before they are needed: as safe as those that are started anew (P7)."""

import asyncio
import gc
import json
import os
import resource
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from interlock.model.process import Ended
from interlock.process.containment import Containment
from interlock.process.processes import LocalProcesses
from interlock.process.spares import MOST_LOST, Spares
from tests.run.test_no_orphans import shared
from tests.run.tree import (
    BOUND_SECONDS,
    KINDS,
    Marked,
    children_running,
    driver,
    end,
    linux,
    possible,
    python_as_nobody,
)

__all__ = ["shared"]
pytestmark = [linux, pytest.mark.slow]

FOREVER = 'echo up > "$UP"; while :; do sleep 600; done'


@pytest.fixture
def processes() -> Iterator[LocalProcesses]:
    if not possible(KINDS[0]).is_namespace:
        pytest.skip("spares need namespaces")
    gc.collect()  # what earlier tests made and nobody holds any more
    processes = LocalProcesses(KINDS[0], grace_seconds=0.2)
    yield processes
    processes.close()


def zygotes(of: int | None = None) -> list[psutil.Process]:
    return children_running("zygote.py", of)


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_as_many_are_ready_as_are_foreseen(here: Marked) -> None:
    if not possible(KINDS[0]).is_namespace:
        pytest.skip("spares need namespaces")

    async def scenario() -> int:
        spares = Spares(KINDS[0], alone=False, patience_seconds=BOUND_SECONDS)
        spares.foresee(5)
        spares.foresee(3)
        try:
            taken = [await spares.take() for _ in range(5)]
            return len({spare.pid for spare in taken if spare})
        finally:
            for spare in taken:
                if spare:
                    spare.give_up()
            spares.close()

    assert asyncio.run(scenario()) == 5


def test_many_that_start_at_once_each_get_a_supervisor_of_the_same_zygote(
    processes: LocalProcesses, here: Marked
) -> None:
    async def many() -> list[str]:
        told = [replace(here.command("echo $$-$PPID"), log=str(here.folder / str(n))) for n in range(30)]
        return [ended.tail for ended in await asyncio.gather(*map(processes.run, told))]

    assert set(asyncio.run(many())) == {"2-1"}, "each is the first below the first process of its namespace"
    assert len(zygotes()) == 1
    processes.close()
    assert zygotes() == []


def test_a_program_goes_on_when_the_zygote_is_killed_and_the_next_one_starts_all_the_same(
    processes: LocalProcesses, here: Marked
) -> None:
    async def killed_under_it() -> tuple[int, Ended]:
        first = here.command('echo up > "$UP"; until test -e "$UP.go"; do sleep 0.01; done; exit 7')
        running = asyncio.create_task(processes.run(first))
        await asyncio.to_thread(here.wait_until_up)
        for zygote in zygotes():
            zygote.kill()
        second = await processes.run(here.command("exit 8"))
        Path(here.env["UP"] + ".go").touch()
        return (await running).code, second.ended

    assert asyncio.run(killed_under_it()) == (7, Ended.EXITED)


def test_without_any_zygote_supervisors_are_started_anew(processes: LocalProcesses, here: Marked) -> None:
    async def again_and_again() -> list[int]:
        codes = []
        for code in range(MOST_LOST + 2):
            codes.append((await processes.run(here.command(f"exit {code}"))).code)
            for zygote in zygotes():
                zygote.kill()
        return codes

    assert asyncio.run(again_and_again()) == list(range(MOST_LOST + 2))


def open_files() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{name}").exists()}  # noqa: PTH208 - names only


def test_when_no_file_can_be_opened_there_is_no_spare_and_nothing_stays_open() -> None:
    async def take() -> None:
        spares = Spares(possible(KINDS[0]), alone=True)
        before = open_files()
        free = [number for number in range(max(before) + 6) if number not in before]
        # Enough for the socket and the pipe (two each), not for the start of the process.
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[4], limits[1]))
        try:
            assert await spares.take() is None
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert open_files() == before

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    asyncio.run(take())
    gc.collect()  # a socket that was left to the garbage collector is a warning, and so an error


@pytest.mark.parametrize(("idle_seconds", "left"), [(1.0, 1), (3600.0, 8)])
def test_spares_grow_with_the_starts_and_shrink_when_nobody_comes(
    here: Marked, idle_seconds: float, left: int
) -> None:
    """P6."""
    if not possible(KINDS[0]).is_namespace:
        pytest.skip("spares need namespaces")
    spares = Spares(KINDS[0], alone=True, idle_seconds=idle_seconds, patience_seconds=BOUND_SECONDS)

    def waiting() -> int:
        return sum(map(is_alive, (child for zygote in zygotes() for child in zygote.children())))

    async def used_eight_at_once() -> None:
        for spare in await asyncio.gather(*(spares.take() for _ in range(8))):
            assert spare is not None
            spare.give_up()
        await asyncio.to_thread(here.wait_until, lambda: waiting() > left / 2 + 1)
        await asyncio.to_thread(here.wait_until, lambda: waiting() == left)

    try:
        asyncio.run(used_eight_at_once())
    finally:
        spares.close()
    assert waiting() == 0


def test_a_spare_that_was_killed_is_not_used(processes: LocalProcesses, here: Marked) -> None:
    async def killed_before() -> int:
        await processes.run(here.command("true"))
        (zygote,) = zygotes()
        await asyncio.to_thread(here.wait_until, zygote.children)
        keepers = zygote.children()
        for keeper in keepers:
            keeper.kill()
        await asyncio.to_thread(psutil.wait_procs, keepers)
        return (await processes.run(here.command("exit 9"))).code

    assert asyncio.run(killed_before()) == 9


def test_nothing_of_the_engine_is_in_a_spare(
    processes: LocalProcesses, here: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its secrets nor its open files: a supervisor lives as long as its program, and beside it."""
    monkeypatch.setenv("SECRET_KEY", "do-not-pass-on")

    async def looked_at() -> tuple[list[bytes], list[str]]:
        secret = os.open(here.folder, os.O_RDONLY)
        running = asyncio.create_task(
            processes.run(replace(here.command(FOREVER), pid_file=str(here.folder / "pid")))
        )
        await asyncio.to_thread(here.wait_until_up)
        keeper = psutil.Process(json.loads((here.folder / "pid").read_text())["pid"])
        tree = [*zygotes(), keeper, *keeper.children()]
        environments = [Path(f"/proc/{process.pid}/environ").read_bytes() for process in tree]
        files = [str(fd.readlink()) for each in tree for fd in Path(f"/proc/{each.pid}/fd").iterdir()]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        os.close(secret)
        return environments, files

    environments, files = asyncio.run(looked_at())
    assert not any(b"do-not-pass-on" in environment for environment in environments)
    assert {file.partition(":")[0] for file in files} <= {"/dev/null", "pipe", "socket"}


@pytest.mark.crash
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_zygote_and_spares_end_with_the_engine(here: Marked, number: signal.Signals) -> None:
    engine = driver(possible(KINDS[0]), str(here.folder), here.mark, "0", FOREVER)
    here.wait_until_up()
    (zygote,) = zygotes(engine.pid)
    here.wait_until(lambda: len(zygote.children()) > 1)
    below = [zygote, *zygote.children(recursive=True)]
    end(engine, number)
    here.wait_until(lambda: not any(process.is_running() for process in below))


@pytest.mark.crash
@pytest.mark.skipif(os.geteuid() != 0, reason="then the other tests already run as somebody without rights")
def test_somebody_without_rights_has_spares_too(shared: Marked) -> None:
    here = shared
    engine = driver("", str(here.folder), here.mark, "0", FOREVER, before=python_as_nobody())
    here.wait_until_up()
    chain = [psutil.Process(engine.pid), *psutil.Process(engine.pid).children(recursive=True)]
    kinds = [word for process in chain for word in process.cmdline() if word.endswith("namespace")]
    end(engine)
    here.wait_until_gone()
    if not kinds:
        pytest.skip("this machine gives nobody namespaces")
    assert set(kinds) == {Containment.USER_NAMESPACE}
