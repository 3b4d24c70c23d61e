"""Processes that outlived whoever watched them: how they are recognised, and how they end."""

import contextlib
import json
import os
import select
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

MARK = "INTERLOCK_PROCESS"
"""A variable that every started program gets, with a value nobody else has; children inherit it."""

END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Note:
    """What is known about a running supervisor, kept in a file for whoever comes after a crash."""

    pid: int
    started: str
    """Tells the process from a later one with the same number."""
    mark: str


def take_note(pid_file: Path, pid: int, mark: str) -> None:
    pid_file.write_text(json.dumps(asdict(Note(pid, started(pid), mark))))


def started(pid: int) -> str:
    """When the process started, as ticks of one boot: a clock that is set does not change it. '' if gone."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        stat = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{boot}/{stat[19].decode()}"
    except FileNotFoundError:
        pass
    try:
        return "" if Path("/proc/self").exists() else str(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return ""


def end_survivors(pid_file: Path) -> None:
    """End what the noted supervisor left running, and the supervisor. Does nothing the second time."""
    try:
        note = Note(**json.loads(pid_file.read_text()))
    except FileNotFoundError:
        return
    except (ValueError, TypeError):
        # The engine died while it wrote the note; the supervisor ended with it.
        pid_file.unlink(missing_ok=True)
        return
    if note.started and started(note.pid) == note.started:
        with contextlib.suppress(psutil.NoSuchProcess):
            supervisor = psutil.Process(note.pid)
            tree = [*supervisor.children(recursive=True), supervisor]
            _kill(tree)
            psutil.wait_procs(tree, timeout=END_SECONDS)
    end_marked(note.mark)
    pid_file.unlink(missing_ok=True)


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
