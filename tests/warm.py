"""Starts a Python program, most often `interlock`, as a process of its own without the time of its imports.

Tests whose subject is the start itself (another user, a broken machine) start `python -m interlock`
themselves. With INTERLOCK_COLD_TESTS=1 every test does, as in `make test-night`.
"""

import atexit
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

INTERLOCK = (sys.executable, "-m", "interlock")
IS_COLD = bool(os.environ.pop("INTERLOCK_COLD_TESTS", "")) or not hasattr(os, "pidfd_open")
GIVE_UP_SECONDS = 120
ENVIRONMENT = dict(os.environ)
"""Of the server, which outlives the test that starts it: what that test sets must not be found there."""


class Warm:
    """A command that the server became; the part of `subprocess.Popen` that tests use."""

    def __init__(self, argv: Sequence[str], answers: socket.socket) -> None:
        self._argv = argv
        self._answers = answers
        self._code: int | None = None
        self.pid = int(answers.recv(100))

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended; its exit code, negative for a signal."""
        if self._code is None:
            self._answers.settimeout(timeout)
            try:
                self._code = int(self._answers.recv(100))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self._argv, timeout or 0) from None
            self._answers.close()
        return self._code

    def send_signal(self, number: int) -> None:
        """As `kill` does; nothing if it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


Started: TypeAlias = Warm | subprocess.Popen[bytes]


def start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    *,
    out: int,
    err: int,
    stdin: int | None = None,
) -> Started:
    """Start a program with these streams, `python ...` warm; without `stdin` it has nothing to read."""
    with Path(os.devnull).open() as nothing:
        streams = (nothing.fileno() if stdin is None else stdin, out, err)
        if IS_COLD or argv[0] != sys.executable:
            return subprocess.Popen(argv, cwd=cwd, env=env, stdin=streams[0], stdout=out, stderr=err)
        order = {"words": argv[1:], "folder": str(cwd), "env": dict(os.environ if env is None else env)}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(_server(), [json.dumps(order).encode()], [*streams, theirs.fileno()])
    return Warm(argv, ours)


def start_on_terminal(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None
) -> tuple[Started, int]:
    """Start `python ...` on a terminal of its own, and return the other side of that too."""
    mine, theirs = pty.openpty()
    try:
        return start(argv, cwd, env, out=theirs, err=theirs, stdin=theirs), mine
    finally:
        os.close(theirs)


def pieces(terminal: int) -> Iterator[str]:
    """What appears on the terminal, until the other side is closed."""
    while select.select([terminal], [], [], GIVE_UP_SECONDS)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last writer is gone
            return
        if not data:
            return
        yield data.decode("utf-8", "replace")


def run(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python ...` to its end; what it printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = start(argv, cwd, env, out=out.fileno(), err=err.fileno())
        try:
            code = started.wait(GIVE_UP_SECONDS)
        finally:
            started.kill()
            started.wait()
        printed = [_text(file.fileno()) for file in (out, err)]
    return subprocess.CompletedProcess(argv, code, *printed)


def _text(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode().replace("\r\n", "\n")


@cache
def _server() -> socket.socket:
    """The socket to the server, which ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_server", str(theirs.fileno())],
            cwd=Path(__file__).parent.parent,
            env=ENVIRONMENT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours
