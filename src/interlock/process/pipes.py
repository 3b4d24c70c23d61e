"""The pipes between the engine, a supervisor and its program."""

import asyncio
import contextlib
import os
import socket
from dataclasses import dataclass

MOST_BYTES = 1 << 20
"""A program that reads nothing is told nothing more beyond this."""


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


class StdinMessages:
    """The writing end of one program's standard input. Messages keep their order, and none is waited for."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pipe: int) -> None:
        self._loop = loop
        self._pipe = pipe
        self._unsent = b""
        self._last = False

    def send(self, text: str) -> bool:
        """Take the text; False if the program has closed its input, was hung up on, or does not read."""
        if self._pipe < 0 or self._last or len(self._unsent) > MOST_BYTES:
            return False
        self._unsent += text.encode()
        self._write()
        return self._pipe >= 0

    def hang_up(self) -> None:
        """Deliver the messages taken so far, then close the input."""
        self._last = True
        self._write()

    def close(self) -> None:
        if self._pipe >= 0:
            self._loop.remove_writer(self._pipe)
            os.close(self._pipe)
            self._pipe = -1

    def _write(self) -> None:
        try:
            with contextlib.suppress(BlockingIOError):
                while self._unsent and self._pipe >= 0:
                    self._unsent = self._unsent[os.write(self._pipe, self._unsent) :]
        except ConnectionError:
            self.close()
        if self._pipe < 0:
            return
        if self._unsent:
            self._loop.add_writer(self._pipe, self._write)
        else:
            self._loop.remove_writer(self._pipe)
            if self._last:
                self.close()


def open_stdin_messages(loop: asyncio.AbstractEventLoop, sealed: bool = False) -> tuple[StdinMessages, int]:
    """The writing end, and the reading end for the program."""
    reading, writing = sealed_pipe() if sealed else os.pipe()
    os.set_blocking(writing, False)
    return StdinMessages(loop, writing), reading
