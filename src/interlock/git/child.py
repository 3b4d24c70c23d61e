"""One program from its start to its end, its output taken as it comes.

asyncio has the same. But its streams, and on Python 3.11 a thread for each process, take the event loop
longer than git takes to answer, and a change needs a dozen git processes on its way to main.

A child dies with this process, however that dies (kill -9 too): the kernel signals its group when the write
end of one pipe closes, which this process alone holds. PR_SET_PDEATHSIG would need code between fork and
exec, and goes by the thread that forked.
"""

import asyncio
import contextlib
import fcntl
import functools
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import IO, BinaryIO

_CHUNK_BYTES = 1 << 16
_ERROR_BYTES = 4 << 20


class Drain:
    """Takes a program's output up to a limit, then counts without keeping."""

    def __init__(self, sink: BinaryIO, limit_bytes: int | None) -> None:
        self._sink = sink
        self._left = limit_bytes
        self.cut = False
        """True if the program printed more than allowed."""

    def take(self, chunk: bytes) -> None:
        """Keep it if there is room."""
        if self._left is not None:
            self._left -= len(chunk)
            self.cut = self._left < 0
        if not self.cut:
            self._sink.write(chunk)

    @property
    def kept(self) -> bytes:
        """The output, unless it went into a file."""
        return self._sink.getvalue() if isinstance(self._sink, BytesIO) else b""


@functools.cache
def _lifeline(_process: int) -> tuple[int, int]:
    """A pipe whose write end closes when this process ends."""
    return os.pipe()


@contextlib.contextmanager
def held(limits: Mapping[int, int]) -> Iterator[tuple[tuple[int, ...], Callable[[int], None]]]:
    """The files to hand to a new child that leads a process group, and what to call with its number then.

    `limits` are those of the kernel, by their number in `resource`. They hold from the call on: a child that
    has just been started has not read anything yet.
    """
    if not hasattr(fcntl, "F_SETSIG"):  # Linux only
        yield (), lambda _: None
        return
    # A file description of its own: the kernel keeps the process to signal with it.
    end = os.open(f"/proc/self/fd/{_lifeline(os.getpid())[0]}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def hold(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it is over already
            fcntl.fcntl(end, fcntl.F_SETOWN, -pid)
            fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGTERM)  # git removes its lock files
            fcntl.fcntl(end, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
        for limit, most in limits.items():
            with contextlib.suppress(OSError):  # the same, or a stricter limit holds that is not ours
                resource.prlimit(pid, limit, (most, most))

    try:
        yield (end,), hold
    finally:
        os.close(end)


class Child:
    """A program in a session of its own that has been started with pipes for its output and its errors."""

    def __init__(self, process: subprocess.Popen[bytes], drain: Drain) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = process
        self._drain = drain
        self._said = Drain(BytesIO(), _ERROR_BYTES)
        self._failure: OSError | None = None
        self._quiet: asyncio.Future[None] = self._loop.create_future()
        """Settled when both pipes are closed."""
        self._open = {_fileno(process.stdout): self._take, _fileno(process.stderr): self._said.take}
        for pipe in self._open:
            os.set_blocking(pipe, False)
            self._loop.add_reader(pipe, self._read, pipe)

    @property
    def errors(self) -> str:
        return self._said.kept.decode("utf-8", "backslashreplace")

    async def ended(self) -> int:
        """Wait for the end; return the exit status. `OSError` if the disk had no room for the output."""
        await asyncio.shield(self._quiet)
        code = await self.gone()
        if self._failure:
            raise self._failure
        return code

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program and to all processes that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    async def gone(self) -> int:
        """Wait for the end of the program alone, and not of what it started; return the exit status."""
        if (code := self._process.poll()) is not None:
            return code
        if not hasattr(os, "pidfd_open"):
            return await asyncio.to_thread(self._process.wait)
        gone = self._loop.create_future()
        watch = os.pidfd_open(self._process.pid)
        try:
            self._loop.add_reader(watch, gone.set_result, None)
            await gone
        finally:
            self._loop.remove_reader(watch)
            os.close(watch)
        return self._process.wait()

    def close(self) -> None:
        for pipe in list(self._open):
            self._shut(pipe)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()

    def _read(self, pipe: int) -> None:
        try:
            chunk = os.read(pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            self._shut(pipe)
            return
        self._open[pipe](chunk)

    def _take(self, chunk: bytes) -> None:
        was_cut = self._drain.cut
        try:
            self._drain.take(chunk)
        except OSError as failure:  # the disk is full
            self._failure = self._failure or failure
        if self._failure or self._drain.cut > was_cut:
            self.signal(signal.SIGKILL)

    def _shut(self, pipe: int) -> None:
        self._loop.remove_reader(pipe)
        del self._open[pipe]
        if not self._open and not self._quiet.done():
            self._quiet.set_result(None)


def _fileno(stream: IO[bytes] | None) -> int:
    assert stream is not None  # noqa: S101 - every child is started with pipes
    return stream.fileno()


@contextlib.contextmanager
def as_file(feed: bytes | BinaryIO) -> Iterator[int | BinaryIO]:
    """Yield the input of a program as a file: unlike a pipe, it need not be filled while the program runs."""
    if not isinstance(feed, bytes):
        yield feed
        return
    if not feed:
        yield subprocess.DEVNULL
        return
    with _memory_file() as file:
        file.write(feed)
        file.seek(0)
        yield file


def _memory_file() -> BinaryIO:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("feed"), "w+b")
    import tempfile  # noqa: PLC0415 - hardly ever needed, and slow to import

    return tempfile.TemporaryFile()
