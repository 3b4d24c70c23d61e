"""Sockets of processes that had no time to remove them."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.proxy.sockets import socket_path


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def left(folder: Path) -> Path:
    """A folder with a socket, as a killed process leaves it behind."""
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as wire:
        wire.bind(str(folder / "m-01234567.sock"))
    return folder


def test_what_killed_processes_left_is_removed_when_the_next_socket_is_made(short: Path) -> None:
    old, fresh, other = (left(short / name) for name in ("interlock_aaaaaaaa", "interlock_bbbbbbbb", "x"))
    for folder in (old, other):
        os.utime(folder / "m-01234567.sock", (1, 1))
        os.utime(folder, (1, 1))
    with socket_path(Path("/deep", "x" * 120), "m", {"XDG_RUNTIME_DIR": str(short)}) as path:
        assert path.parent.parent == short
        assert [folder.exists() for folder in (old, fresh, other)] == [False, True, True]
    assert sorted(short.iterdir()) == [fresh, other]


def test_a_socket_in_use_stays_however_old_it_is(short: Path) -> None:
    (folder := short / "interlock_aaaaaaaa").mkdir()
    with socket.socket(socket.AF_UNIX) as wire:
        wire.bind(str(folder / "m-01234567.sock"))
        wire.listen()
        os.utime(folder / "m-01234567.sock", (1, 1))
        os.utime(folder, (1, 1))
        with socket_path(Path("/deep", "x" * 120), "m", {"XDG_RUNTIME_DIR": str(short)}):
            assert (folder / "m-01234567.sock").exists()
