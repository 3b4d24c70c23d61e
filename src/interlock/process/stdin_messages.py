"""Messages for a running program's standard input: kept in order, and never waited for."""

import asyncio
import contextlib
import os

from interlock.process.starting import sealed_pipe

MOST_BYTES = 1 << 20
"""A program that reads nothing is told nothing more beyond this."""


class StdinMessages:
    """The writing end of one program's standard input."""

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
