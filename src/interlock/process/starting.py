"""Starts a supervisor: what it is told, and the pipes to it."""

import contextlib
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from interlock.process.containment import SUPERVISOR, Containment, prefix


@dataclass(frozen=True, slots=True)
class Instructions:
    """All that a supervisor has to know."""

    containment: Containment
    alone: bool
    """True if it gets a network of its own."""
    deadlines: tuple[float, float, float]
    """Timeout, end of the lease, grace period."""
    words: tuple[str, ...]
    argv: tuple[str, ...]
    env: Mapping[str, str]
    directory: str
    descriptors: tuple[int, ...]
    """Open files that it gets under the same numbers."""


@dataclass(frozen=True, slots=True)
class Pipes:
    """Between the engine and one supervisor: what it is told, what the program says, how it ended."""

    control: int
    output: int
    status: int
    theirs: tuple[int, int, int]
    """The other ends, in the order of a process's first three files."""

    def close_theirs(self) -> None:
        """The supervisor has them, or never will."""
        for fd in self.theirs:
            with contextlib.suppress(OSError):
                os.close(fd)

    def close(self) -> None:
        """Close our ends."""
        for fd in (self.control, self.output, self.status):
            os.close(fd)


def sealed_pipe() -> tuple[int, int]:
    """The reading and the writing end of a pipe that no process can open by its name in /proc.

    It is a pair of sockets: the kernel refuses to open one. Only who has an end, or is given it, can use it.
    Neither direction is shut: asyncio takes an output that reads as ended for one that has no reader.
    """
    reading, writing = socket.socketpair()
    return reading.detach(), writing.detach()


def open_pipes(sealed: bool = False) -> Pipes:
    control, status = os.pipe(), os.pipe()
    output = sealed_pipe() if sealed else os.pipe()
    for fd in (control[1], output[0], status[0]):
        os.set_blocking(fd, False)
    return Pipes(control[1], output[0], status[0], (control[0], output[1], status[1]))


class Supervisor:
    """The process that ends with everything below it."""

    def __init__(self, told: Instructions, pipes: Pipes) -> None:
        stdin, stdout, stderr = pipes.theirs
        self._process = subprocess.Popen(
            (
                *prefix(told.containment, alone=told.alone),
                *SUPERVISOR,
                told.containment.value,
                *map(repr, told.deadlines),
                *told.words,
                "--",
                *told.argv,
            ),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=told.directory,
            env=told.env,
            pass_fds=told.descriptors,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: float) -> None:
        """Wait until it is gone, or for so long."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
