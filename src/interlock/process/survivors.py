"""Processes that outlived their supervisor: recognising and ending them."""

import contextlib
import json
import os
import select
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from interlock.sandbox.confinement import remove_container
from interlock.sandbox.container import container_name, known_engine

MARK = "INTERLOCK_PROCESS"
"""A variable that every started program gets, with a unique value; children inherit it."""

END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Note:
    """A running supervisor, as noted in a file for the cleanup after a crash."""

    pid: int
    started: str
    """Tells the process from a later one with the same number."""
    mark: str
    engine: str = ""
    """The program that runs its container, if it is in one: that is not our child."""


def take_note(pid_file: Path, pid: int, mark: str, engine: str = "") -> None:
    pid_file.write_text(json.dumps(asdict(Note(pid, started(pid), mark, engine))))


def started(pid: int) -> str:
    """Return the process's start in ticks of one boot: no change of the clock changes it. '' if gone."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        stat = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{boot}/{stat[19].decode()}"
    except (FileNotFoundError, ProcessLookupError):
        pass  # the second one: it ended between the opening of its file and the reading
    try:
        return "" if Path("/proc/self").exists() else str(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return ""


def end_survivors(pid_file: Path) -> None:
    """End what the noted supervisor left running, and the supervisor. Does nothing the second time."""
    note = read_note(pid_file)
    if note is None:
        return
    if note.started and started(note.pid) == note.started:
        with contextlib.suppress(psutil.NoSuchProcess):
            supervisor = psutil.Process(note.pid)
            # The supervisor first: it must not report the end of its program as one that came by itself.
            tree = [supervisor, *supervisor.children(recursive=True)]
            _kill(tree)
            _wait_until_over(tree)
    end_marked(note.mark)
    if engine := known_engine(note.engine):
        remove_container(engine, container_name(note.mark))
    pid_file.unlink(missing_ok=True)


def read_note(pid_file: Path) -> Note | None:
    """Read a note. None if any part of it makes no sense: agents can reach it."""
    try:
        found = json.loads(pid_file.read_text())
    except (OSError, ValueError):
        # There is none; or the engine died while it wrote the note, and the supervisor ended with it.
        found = None
    match found:
        # A mark that is no text would be carried by every process that has none.
        case {"pid": int(pid), "started": str(start), "mark": str(mark), **more} if pid > 1 and mark:
            return Note(pid, start, mark, str(more.get("engine", "")))
    with contextlib.suppress(OSError):
        pid_file.unlink(missing_ok=True)
    return None


def _wait_until_over(tree: list[psutil.Process]) -> None:
    """Wait for the end of the tree. A zombie is over too: its parent may be stopped."""
    give_up_at = time.monotonic() + END_SECONDS
    while any(_runs(process) for process in tree) and time.monotonic() < give_up_at:
        select.select([], [], [], 0.005)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def end_marked(mark: str) -> None:
    """End every process that carries the mark. One that threw its environment away is not found."""
    give_up_at = time.monotonic() + END_SECONDS
    while marked := [process for process in psutil.process_iter() if _carries(process, mark)]:
        _kill(marked)
        if time.monotonic() > give_up_at:
            return
        select.select([], [], [], 0.005)


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.pid != os.getpid() and process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        # Gone, a zombie, or another user's, which never is one of ours.
        return False


def _kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
