"""A log on a disk that is full, on a file system whose blocks are smaller than a page of memory."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.store.disk_room import INDEX_BYTES

pytestmark = pytest.mark.slow

WRITER = """
import asyncio, sys
from interlock.events.facts import Paused
from interlock.model.errors import StoreUnavailable
from interlock.store import open_store

async def write():
    try:
        store = open_store(sys.argv[1], "p")
        for _ in range(2000):
            await store.append([Paused(None, "x" * 500)], "test")
    except StoreUnavailable as full:
        print(full)

asyncio.run(write())
"""
DISK_KIB = 2048


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    image, disk = tmp_path / "image", tmp_path / "disk"
    disk.mkdir()
    with image.open("wb") as file:
        file.truncate(DISK_KIB * 1024)
    made = ["mkfs.ext4", "-q", "-b", "1024", "-m", "0", "-O", "^has_journal", str(image)]
    for argv in (made, ["mount", "-o", "loop", str(image), str(disk)]):
        try:
            subprocess.run(argv, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            pytest.skip(f"no small file system can be mounted here: {problem}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def written(disk: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", WRITER, str(disk / "log.db")]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_no_amount_of_free_space_ends_the_process_by_a_signal(disk: Path) -> None:
    ballast = disk / "ballast"
    for free in range(32, 192, 8):
        for name in ("", "-wal", "-shm"):
            (disk / f"log.db{name}").unlink(missing_ok=True)
        ballast.unlink(missing_ok=True)
        ballast.write_bytes(bytes(room(disk) - free * 1024))
        done = written(disk)
        assert done.returncode == 0, (free, done)
        assert "the disk is full" in done.stdout, (free, done)


def room(disk: Path) -> int:
    words = ["stat", "-f", "-c", "%a %S", str(disk)]
    blocks, size = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return int(blocks) * int(size)


def test_the_index_of_an_open_log_has_all_its_blocks(disk: Path) -> None:
    # It ends without closing the log, which would remove the file.
    left = "import os\n" + WRITER.replace("range(2000)", "range(1)").replace(
        "except", "    os._exit(0)\n    except"
    )
    subprocess.run([sys.executable, "-c", left, str(disk / "log.db")], check=True)
    index = (disk / "log.db-shm").stat()
    assert index.st_size == INDEX_BYTES <= index.st_blocks * 512
