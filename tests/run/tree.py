"""What the tests of process trees share: programs that are hard to end, and a look at who is still alive."""

import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

import interlock
from interlock.model.process import Command
from interlock.process.containment import Containment, works

BOUND_SECONDS = 60.0
"""Only how long a failing test takes; a passing one waits for the thing itself."""

KINDS = [
    Containment.NAMESPACE if os.geteuid() == 0 else Containment.USER_NAMESPACE,
    Containment.SUBREAPER,
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and /proc are Linux")

DAEMON = (
    '(setsid nohup sh -c \'trap "" TERM HUP INT; echo up > "$UP"; while :; do sleep 600; done\' '
    '>/dev/null 2>&1 &) ; read _ < "$UP"; '
)
"""Double fork, own session, deaf to polite signals; goes on when it is known to be up."""


def possible(kind: Containment) -> Containment:
    if not works(kind):
        pytest.skip(f"this machine does not allow {kind}")
    return kind


@dataclass
class Marked:
    """Programs that can be recognised, and a pipe on which they say that they are up."""

    mark: str
    folder: Path

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def command(self, script: str, **limits: float) -> Command:
        return Command(("sh", "-c", script), str(self.folder), str(self.log), self.env, **limits)  # type: ignore[arg-type]  # the limits are all numbers

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "UP": str(self.folder / "up"), "MARKED": self.mark}

    def alive(self) -> list[str]:
        """Command lines of the processes that carry the mark; zombies carry nothing."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and self.mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().decode())
            except OSError:
                continue
        return found

    def wait_until_up(self) -> None:
        """Until a daemon has said so. Opened without waiting, so that one that never does fails the test."""
        up = os.open(self.env["UP"], os.O_RDONLY | os.O_NONBLOCK)
        try:
            ready, _, _ = select.select([up], [], [], BOUND_SECONDS)
            assert ready, "nobody came up"
        finally:
            os.close(up)

    def wait_until_gone(self) -> None:
        self.wait_until(lambda: not self.alive())

    def wait_until(self, holds: Callable[[], object]) -> None:
        until(holds, lambda: f"alive: {self.alive()}")


def until(
    holds: Callable[[], object], otherwise: Callable[[], str] = lambda: "it never came to that"
) -> None:
    """Wait for it; what to say if it does not come."""
    give_up_at = time.monotonic() + BOUND_SECONDS
    while not holds():
        assert time.monotonic() < give_up_at, otherwise()
        select.select([], [], [], 0.01)


def children() -> set[int]:
    """Processes that this one has started and not yet buried. Other tests may have left some."""
    return {child.pid for child in psutil.Process().children()}


def children_running(word: str, of: int | None = None) -> list[psutil.Process]:
    """Children with a word in their command, of this process or another. One may end while we look at it."""
    found = []
    for child in psutil.Process(of).children():
        with suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE and word in " ".join(child.cmdline()):
                found.append(child)
    return found


def marked(folder: Path) -> Marked:
    os.mkfifo(folder / "up")
    return Marked(uuid.uuid4().hex, folder)


def driver(*words: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """An engine of its own in a process of its own."""
    script = str(Path(__file__).with_name("engine_driver.py"))
    start = before or (sys.executable,)
    return subprocess.Popen([*start, script, *words], stdout=subprocess.PIPE, text=True)


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def python_as_nobody() -> tuple[str, ...]:
    """The words before a script that somebody without rights runs. Our own Python may be root's alone."""
    libraries = {str(Path(module.__file__ or "").parents[1]) for module in (interlock, psutil)}
    for python in (str(Path(sys.executable).resolve()), "/usr/bin/python3"):
        words = (*NOBODY, "env", f"PYTHONPATH={':'.join(libraries)}", python)
        trial = subprocess.run([*words, "-c", "import psutil, interlock"], capture_output=True, check=False)
        if trial.returncode == 0:
            return words
    pytest.skip("there is no Python here that somebody without rights can run")


def end(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> str:
    process.send_signal(number)
    return process.communicate(timeout=BOUND_SECONDS)[0]
