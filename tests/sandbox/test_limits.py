"""How much of the machine a program may use, and what happens when it is too much (D10)."""

import asyncio
import gc
import os
import resource
import subprocess
from pathlib import Path

import pytest

from interlock.model.process import Ended
from interlock.model.sandbox import Limits
from interlock.process.ceilings import MEMORY, PREFIX, PROCESSES, Parent, cgroup_parents, raise_ceiling
from interlock.sandbox.folders import used_bytes
from tests.run.tree import linux
from tests.sandbox.room import Room, furnished

pytestmark = linux

TAKE = "import sys; held = bytearray({megabytes} << 20); print('had it')"
CROWD = "i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; echo all of them"


@pytest.fixture(params=["bubblewrap", "landlock"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    return furnished(tmp_path, request.param, disk_seconds=0.05)


def needs_cgroup(controller: str) -> None:
    if controller not in cgroup_parents():
        pytest.skip(f"no cgroup with {controller} can be made here")


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_program_that_takes_more_memory_than_its_limit_ends_and_that_is_said(room: Room) -> None:
    needs_cgroup(MEMORY)
    limits = Limits(memory_bytes=128 << 20)
    assert room.python(TAKE.format(megabytes=32), limits=limits).tail == "had it"
    ended = room.python(TAKE.format(megabytes=400), limits=limits)
    assert (ended.ended, ended.code, ended.tail) == (Ended.MEMORY, ended.code, "")
    assert ended.code != 0


@pytest.mark.sandbox
@pytest.mark.slow
def test_memory_counts_for_all_that_a_program_starts_together(room: Room) -> None:
    needs_cgroup(MEMORY)
    script = 'for i in 1 2 3 4 5 6; do python3 -c "held = bytearray(60 << 20); input()" & done; wait; exit 3'
    both = [
        room.sh(script, limits=Limits(memory_bytes=most), timeout_seconds=60.0)
        for most in (128 << 20, 1 << 30)
    ]
    counts = [ended.tail.count("EOFError") for ended in both]
    assert counts[1] == 6
    assert counts[0] < 6, "some were killed before they came to their end"


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_program_that_multiplies_is_refused_more_processes(room: Room) -> None:
    needs_cgroup(PROCESSES)
    ended = room.sh(CROWD, limits=Limits(processes=50))
    assert "all of them" not in ended.tail
    assert "fork" in ended.tail
    assert room.sh(CROWD, limits=Limits(processes=400)).tail.splitlines()[-1] == "all of them"


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_program_that_fills_its_folder_is_stopped(room: Room) -> None:
    script = "trap 'exit 5' TERM; head -c 3000000 /dev/zero > big; while :; do sleep 0.02; done"
    ended = room.sh(script, limits=Limits(disk_bytes=2_000_000))
    assert (ended.ended, ended.code) == (Ended.DISK, 5)


HIDE = {
    "an open file without a name": "f = open('f', 'wb', 0); os.unlink('f'); f.write(bytes(3_000_000))",
    "a mapped file without a name": (
        "f = open('f', 'w+b', 0); f.write(bytes(3_000_000)); m = mmap.mmap(f.fileno(), 0); f.close(); "
        "os.unlink('f')"
    ),
    "a folder that nobody may read": (
        "os.mkdir('d'); open('d/f', 'wb').write(bytes(3_000_000)); os.chmod('d', 0)"
    ),
    "a path that is too long": (
        "[(os.mkdir('n' * 200), os.chdir('n' * 200)) for _ in range(40)]; "
        "open('f', 'wb').write(bytes(3_000_000))"
    ),
}


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("how", HIDE)
def test_what_a_program_hides_counts_too(room: Room, how: str) -> None:
    script = f"import mmap, os, signal; {HIDE[how]}; signal.pause()"
    ended = room.python(script, limits=Limits(disk_bytes=2_000_000), timeout_seconds=60.0)
    assert ended.ended is Ended.DISK


@pytest.mark.sandbox
@pytest.mark.slow
def test_what_is_over_the_limit_at_the_end_is_found_then(tmp_path: Path) -> None:
    """The program is quicker than the looks at its folders."""
    room = furnished(tmp_path, "bubblewrap", disk_seconds=1000.0)
    ended = room.sh("head -c 3000000 /dev/zero > big", limits=Limits(disk_bytes=2_000_000))
    assert ended.ended is Ended.DISK
    (room.mine / "big").unlink()
    assert room.sh("echo fine", limits=Limits(disk_bytes=2_000_000)).ended is Ended.EXITED


@pytest.mark.sandbox
@pytest.mark.slow
def test_no_look_at_the_folders_is_due_after_a_program_was_stopped(tmp_path: Path) -> None:
    room = furnished(tmp_path, "bubblewrap", disk_seconds=1000.0)
    stopped = room.command("sleep", "60", limits=Limits(disk_bytes=1 << 50), idle_seconds=0.1)

    async def due() -> tuple[Ended, int]:
        """Return how the program ended, and the number of timers that are left."""
        ended = (await room.processes.run(stopped)).ended
        timers = [one for one in gc.get_objects() if isinstance(one, asyncio.TimerHandle)]
        now = asyncio.get_running_loop().time()
        return ended, sum(not timer.cancelled() and timer.when() > now for timer in timers)

    assert asyncio.run(due()) == (Ended.IDLE, 0)


@pytest.mark.sandbox
def test_memory_that_is_a_folder_has_a_size(tmp_path: Path) -> None:
    room = furnished(tmp_path, "bubblewrap")
    script = (
        "stat -f -c '%T %b %S' /dev/shm /tmp; touch /dev/shm/mine && echo mine; touch /dev/own || echo no"
    )
    *sizes, mine, _, refused = room.sh(script).tail.splitlines()
    for kind, blocks, size in (line.split() for line in sizes):
        assert (kind, int(blocks) * int(size)) == ("tmpfs", 1 << 30)
    assert (mine, refused) == ("mine", "no")


@pytest.mark.sandbox
@pytest.mark.slow
def test_no_cgroup_is_left_when_a_program_has_ended(room: Room) -> None:
    room.sh("true", limits=Limits(memory_bytes=1 << 30, processes=100))
    mine = f"{PREFIX}{os.getpid()}-*"
    assert [group for parent in cgroup_parents().values() for group in parent.folder.glob(mine)] == []


@pytest.mark.sandbox
@pytest.mark.slow
def test_where_no_cgroup_can_be_made_each_process_has_its_limit(room: Room) -> None:
    """RLIMIT_DATA, as seen from inside; that of processes does not hold for root, and is not pretended to."""
    ceiling = raise_ceiling(Limits(1 << 30, 100), "test", parents={})
    expected = {f"limit={resource.RLIMIT_DATA}={1 << 30}"}
    expected |= {f"limit={resource.RLIMIT_NPROC}=100"} if os.geteuid() else set()
    assert set(ceiling.words) == expected


def test_a_parent_that_gives_nothing_is_no_parent(tmp_path: Path) -> None:
    """A plain folder takes the file, but a cgroup without the controller does not: made read-only here."""
    nowhere = Parent(tmp_path / "gone", 2)
    ceiling = raise_ceiling(Limits(memory_bytes=1 << 30), "test", parents={MEMORY: nowhere})
    assert ceiling.groups == ()
    assert ceiling.words == (f"limit={resource.RLIMIT_DATA}={1 << 30}",)


def test_without_limits_there_is_nothing_to_hold() -> None:
    assert raise_ceiling(Limits(), "test").words == ()


def test_counting_stops_when_it_is_enough_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "big").write_bytes(b"x" * 1_000_000)
    (tmp_path / "one" / "link").symlink_to(tmp_path / "elsewhere")
    assert 100_000 <= used_bytes([str(tmp_path / "one")], 1 << 40) < 200_000
    assert used_bytes([str(tmp_path / "gone")], 1 << 40) == 0


def test_a_supervisor_that_has_ended_holds_no_files(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert used_bytes([str(tmp_path)], 1 << 40, ended.pid) == 0


def test_a_file_with_two_names_counts_once_and_a_sparse_one_hardly(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "again").hardlink_to(tmp_path / "file")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert 100_000 <= used_bytes([str(tmp_path)], 1 << 40) < 150_000
