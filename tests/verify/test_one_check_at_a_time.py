"""A verdict is about one tree: two checks never share a folder, whoever was stopped or cancelled (W7)."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.errors import EnvironmentProblem, StaleEpoch
from interlock.model.process import Lease
from interlock.model.task import Tree
from interlock.process import LocalProcesses
from interlock.verify import LocalChecker
from interlock.verify.protocol import CheckOrder
from tests.run.tree import BOUND_SECONDS
from tests.verify.rooms import OpenRooms
from tests.verify.test_checker import git

pytestmark = pytest.mark.slow
LITTER = "trap '' TERM; echo $$ > pid; mv pid running; while :; do echo dirt > dirt; done"
CLEAN = "n=0; while [ $n -lt 3000 ]; do [ ! -e dirt ] || exit 1; n=$((n+1)); done"


@dataclass
class Bench:
    """A repository with one commit, and a checker with a patience that no test survives."""

    root: Path
    state: Path
    tree: Tree
    checker: LocalChecker
    lease: Lease

    def order(self, *commands: str, leased: bool = False) -> CheckOrder:
        return CheckOrder("new/1", self.tree, commands, 600.0, {}, leased)

    def litters(self, name: str = "dirt") -> Callable[[], bool]:
        return lambda: any((self.state / "check").glob(f"*/tree/{name}"))

    def clean(self) -> None:
        for dirt in (self.state / "check").glob("*/tree/dirt"):
            dirt.unlink()

    @contextmanager
    def old_controller(self, *commands: str, lease_seconds: float = 0.0) -> Iterator[subprocess.Popen[str]]:
        script = str(Path(__file__).with_name("checker_driver.py"))
        words = [sys.executable, script, str(self.root), self.tree, str(lease_seconds), *commands]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "file").write_text("tested\n")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-q", "-m", "first")
    place = asyncio.run(discover(tmp_path))
    processes = LocalProcesses(grace_seconds=3600.0)
    checker = LocalChecker(OpenRooms(GitWorkspaces(place)), processes, place.state)
    tree = Tree(git(tmp_path, "rev-parse", "HEAD^{tree}"))
    return Bench(tmp_path, place.state, tree, checker, processes.lease)


def wait_until(holds: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + BOUND_SECONDS
    while not holds():
        assert time.monotonic() < give_up_at
        select.select([], [], [], 0.005)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_check_waits_until_nothing_is_left_of_one_that_was_cancelled(bench: Bench) -> None:
    """The cancelled one is deaf and has an hour of grace, which a check does not get."""

    async def story() -> list[bool]:
        first = asyncio.create_task(bench.checker.check(bench.order(LITTER)))
        await asyncio.to_thread(wait_until, bench.litters())
        first.cancel()
        async with asyncio.timeout(BOUND_SECONDS):
            return [result.passed for result in await bench.checker.check(bench.order(CLEAN))]

    assert asyncio.run(story()) == [True]


@dataclass(frozen=True)
class NotedRooms(OpenRooms):
    """Rooms that tell which folders they are told to clear, and wait for `gate` before they do."""

    gate: threading.Event
    cleared: asyncio.Queue[Path]

    async def clear(self, home: Path) -> None:
        """As `Rooms` says."""
        self.cleared.put_nowait(home)
        busy = asyncio.get_running_loop().run_in_executor(None, self.gate.wait)
        await super().clear(home)
        await busy


@dataclass(frozen=True)
class SlowRooms(OpenRooms):
    """Rooms that note what they clear, and do it when they are told to."""

    go_on: asyncio.Event
    cleared: asyncio.Queue[Path]

    async def clear(self, home: Path) -> None:
        """As `Rooms` says."""
        self.cleared.put_nowait(home)
        await self.go_on.wait()
        await super().clear(home)


def test_two_processes_do_not_remove_one_abandoned_folder_at_once(bench: Bench) -> None:
    """Each checker has locks of its own, as one in another process has."""

    async def story() -> list[Path]:
        workspaces = GitWorkspaces(await discover(bench.root))
        slow = SlowRooms(workspaces, go_on=asyncio.Event(), cleared=asyncio.Queue())
        quick = SlowRooms(workspaces, go_on=asyncio.Event(), cleared=asyncio.Queue())
        quick.go_on.set()
        first = asyncio.create_task(
            LocalChecker(slow, LocalProcesses(), bench.state).check(bench.order("true"))
        )
        assert await slow.cleared.get() == dead
        await LocalChecker(quick, LocalProcesses(), bench.state).check(bench.order("true"))
        slow.go_on.set()
        await first
        return [quick.cleared.get_nowait() for _ in range(quick.cleared.qsize())]

    dead = bench.state / "check" / "dead"
    (dead / "tree").mkdir(parents=True)
    cleared = asyncio.run(story())
    assert dead not in cleared and len(cleared) == 1
    assert not dead.exists()


def test_a_check_cancelled_while_its_folder_is_removed_keeps_it_until_then(bench: Bench) -> None:
    """Else the next check removes the same folder at the same time, and both fail."""

    async def story() -> tuple[bool, list[bool]]:
        # With one thread nothing is removed while the gate is shut.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        rooms = NotedRooms(
            GitWorkspaces(await discover(bench.root)), gate=threading.Event(), cleared=asyncio.Queue()
        )
        checker = LocalChecker(rooms, LocalProcesses(), bench.state)
        first = asyncio.create_task(checker.check(bench.order("true")))
        await rooms.cleared.get()
        for _ in range(3):
            first.cancel()
            await _turns()
        early = first.done()
        rooms.gate.set()
        return early, [result.passed for result in await checker.check(bench.order("true"))]

    assert asyncio.run(story()) == (False, [True])


async def _turns() -> None:
    """Let everything go on that waits for nothing."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_checks_that_are_asked_for_together_run_one_after_the_other(bench: Bench) -> None:
    busy = bench.state / "busy"
    alone = f"mkdir {busy} && n=0 && while [ $n -lt 300 ]; do n=$((n+1)); done && rmdir {busy}"

    async def story() -> list[bool]:
        checks = (bench.checker.check(bench.order(alone, alone)) for _ in range(3))
        return [result.passed for results in await asyncio.gather(*checks) for result in results]

    assert asyncio.run(story()) == [True] * 6
    assert list((bench.state / "check").iterdir()) == []


def test_two_checks_at_once_have_a_folder_each_and_do_not_end_each_other(bench: Bench) -> None:
    """Each ends only when the other has begun; a third one waits for a free folder."""
    place = asyncio.run(discover(bench.root))
    both = LocalChecker(OpenRooms(GitWorkspaces(place)), LocalProcesses(), place.state, at_once=2)
    meet = "touch {mine}; until test -e {other}; do sleep 0.01; done; test ! -e dirt; touch dirt"

    async def story() -> list[bool]:
        one, two = bench.state / "one", bench.state / "two"
        orders = [
            replace(bench.order(meet.format(mine=one, other=two)), name="one"),
            replace(bench.order(meet.format(mine=two, other=one)), name="two"),
            replace(bench.order("test ! -e dirt"), name="three"),
        ]
        async with asyncio.timeout(BOUND_SECONDS):
            found = await asyncio.gather(*map(both.check, orders))
        return [result.passed for results in found for result in results]

    assert asyncio.run(story()) == [True] * 3


def test_two_checks_of_one_name_do_not_read_each_others_report(bench: Bench) -> None:
    """Two tasks tried a check on the same main: each was said to have passed the tests of both."""
    place = asyncio.run(discover(bench.root))
    both = LocalChecker(OpenRooms(GitWorkspaces(place)), LocalProcesses(), place.state, at_once=2)
    orders = [bench.order(f"echo 1..1; sleep 0.3; echo ok 1 - {name}") for name in ("one", "two")]

    async def story() -> list[tuple[str, ...]]:
        found = await asyncio.gather(*map(both.check, orders))
        return [result.suite.passed if result.suite else () for results in found for result in results]

    assert asyncio.run(story()) == [("one",), ("two",)]


@pytest.mark.crash
def test_a_stopped_controller_and_its_check_do_not_touch_the_check_of_the_next(bench: Bench) -> None:
    with bench.old_controller(LITTER, "true") as old:
        wait_until(bench.litters())
        old.send_signal(signal.SIGSTOP)
        (result,) = asyncio.run(bench.checker.check(bench.order(CLEAN)))
        assert result.passed
        old.send_signal(signal.SIGCONT)
        # What the next one ended is no verdict of the old one's.
        assert old.communicate(timeout=BOUND_SECONDS)[0] == "EnvironmentProblem\n"


@pytest.mark.crash
def test_what_a_dead_controller_left_running_ends_before_the_folder_is_used(bench: Bench) -> None:
    with bench.old_controller(LITTER) as old:
        wait_until(bench.litters())
        os.kill(old.pid, signal.SIGKILL)
        old.wait()
        (result,) = asyncio.run(bench.checker.check(bench.order(CLEAN)))
    assert result.passed
    assert list((bench.state / "check").iterdir()) == []


@pytest.mark.crash
@pytest.mark.thorough
def test_a_check_whose_controller_is_stopped_ends_with_its_lease(bench: Bench) -> None:
    with bench.old_controller(LITTER, lease_seconds=6.0) as old:
        wait_until(bench.litters())
        (note,) = (bench.state / "check").glob("*/supervisor.pid")
        supervisor = int(note.read_text().partition('"pid": ')[2].partition(",")[0])
        old.send_signal(signal.SIGSTOP)
        wait_until(lambda: not is_running(supervisor))
        old.send_signal(signal.SIGCONT)
        assert old.communicate(timeout=BOUND_SECONDS)[0] == "EnvironmentProblem\n"


def test_a_lease_that_is_over_starts_no_command_and_ends_nobodys_check(bench: Bench) -> None:
    async def story() -> None:
        bench.lease.renew(10.0, since=bench.lease.now() - 11.0)
        with pytest.raises(StaleEpoch):
            await bench.checker.check(bench.order("touch late", leased=True))

    asyncio.run(story())
    assert not (bench.state / "check").exists()


def test_a_lease_that_is_renewed_goes_on_also_for_a_check_that_waits(bench: Bench) -> None:
    async def story() -> list[bool]:
        bench.lease.renew(0.1)
        orders = [bench.order("echo", "true", leased=True) for _ in range(2)]
        checks = [asyncio.create_task(bench.checker.check(order)) for order in orders]
        await asyncio.sleep(0)
        bench.lease.renew(60.0)
        return [result.passed for results in await asyncio.gather(*checks) for result in results]

    assert asyncio.run(story()) == [True] * 4


@pytest.mark.thorough
def test_a_running_check_outlives_its_first_lease_when_that_is_renewed(bench: Bench) -> None:
    async def story() -> list[bool]:
        now = asyncio.get_running_loop().time()
        bench.lease.renew(4.0)
        order = bench.order("touch dirt; while [ -e dirt ]; do sleep 0.01; done", leased=True)
        check = asyncio.create_task(bench.checker.check(order))
        await asyncio.to_thread(wait_until, bench.litters())
        bench.lease.renew(3600.0)
        await asyncio.to_thread(wait_until, lambda: time.monotonic() > now + 4.0)
        bench.clean()
        return [result.passed for result in await check]

    assert asyncio.run(story()) == [True]


def test_a_lease_that_ends_is_no_red_check(bench: Bench) -> None:
    async def story() -> None:
        bench.lease.renew(3600.0)
        order = bench.order("touch dirt; sleep 600", leased=True)
        check = asyncio.create_task(bench.checker.check(order))
        await asyncio.to_thread(wait_until, bench.litters())
        bench.lease.renew(0.2)
        with pytest.raises(EnvironmentProblem, match="lease"):
            await check

    asyncio.run(story())


def test_renewing_gives_no_lease_to_a_check_without_one(bench: Bench) -> None:
    async def story() -> list[bool]:
        check = asyncio.create_task(
            bench.checker.check(bench.order("touch dirt; while [ -e dirt ]; do sleep 0.01; done"))
        )
        await asyncio.to_thread(wait_until, bench.litters())
        bench.lease.renew(0.2)
        began = time.monotonic()
        await asyncio.to_thread(wait_until, lambda: time.monotonic() > began + 1.0)
        bench.clean()
        return [result.passed for result in await check]

    assert asyncio.run(story()) == [True]
