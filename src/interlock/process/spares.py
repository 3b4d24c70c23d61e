"""Supervisors that are ready before they are needed: the engine's side of zygote.py.

1. A spare serves one program and is used up. What is used is replaced when nothing was started for a moment:
   a burst of starts, which is when it counts, is not slowed down by preparing for the next one.
2. Nothing depends on spares. Where they cannot be had, supervisors are started anew: slower, and the same.
"""

import asyncio
import contextlib
import os
import select
import signal
import socket
import subprocess
import weakref
from pathlib import Path

from interlock.process.containment import Containment
from interlock.process.starting import Instructions, Pipes
from interlock.sandbox.confinement import SYSTEM_PATH, in_memory
from interlock.sandbox.system import PYTHON

ZYGOTE = (PYTHON, "-I", "-S", "-E", str(Path(__file__).with_name("zygote.py")))
MOST_READY = 32
"""Each takes about a megabyte until it is used. No more than were needed or foreseen at once."""
QUIET_SECONDS = 0.1
IDLE_SECONDS = 60.0
"""So long after the last start, half of those that wait are given up, and so on down to one: who starts an
agent now and then needs one at a time."""
PATIENCE_SECONDS = 2.0
"""For a spare that was asked for. A start anew takes some 50 ms."""
MOST_LOST = 3
"""Zygotes that may end by themselves before we go without."""


class Spare:
    """A supervisor that waits for its order."""

    def __init__(self, pid: int, orders: socket.socket, handle: int) -> None:
        self.pid = pid
        """The keeper's: its end is the end of everything below it."""
        self._orders = orders
        self._handle = handle
        self._files = weakref.finalize(self, _close, orders, handle)

    @property
    def is_gone(self) -> bool:
        return _is_readable(self._handle, 0.0)

    def begin(self, told: Instructions, pipes: Pipes) -> None:
        """Give it its order. OSError if it is not there to take it, ValueError if it makes no sense."""
        try:
            order = in_memory("order", _written(told))
            try:
                socket.send_fds(self._orders, [b"order"], [order, *pipes.theirs, *told.descriptors])
            finally:
                os.close(order)
        except (OSError, ValueError):
            self.give_up()
            raise
        self._orders.close()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def give_up(self) -> None:
        """It is of no use."""
        self.kill()
        self.wait(PATIENCE_SECONDS)

    def wait(self, seconds: float) -> None:
        """Until it is gone, or for so long; after this nothing of ours is open for it."""
        _is_readable(self._handle, seconds)
        self._files()


class Spares:
    """All spares of one kind, and the process that they are forked from."""

    def __init__(
        self,
        containment: Containment,
        alone: bool,
        idle_seconds: float = IDLE_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._words = (containment.value, "alone" if alone else "shared")
        self._ready: list[Spare] = []
        self._asked = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._lost = 0
        self._most = 0
        self._idle_seconds = idle_seconds
        self._patience_seconds = patience_seconds
        self._zygote: _Zygote | None = None
        self._refill: asyncio.TimerHandle | None = None

    async def take(self) -> Spare | None:
        """One that is ready, now or soon; None if it is better to start a supervisor anew."""
        give_up_at = asyncio.get_running_loop().time() + self._patience_seconds
        while True:
            self._welcome()
            while self._ready:
                spare = self._ready.pop(0)
                if not spare.is_gone:
                    self._refill_later()
                    return spare
            if not await self._wait(give_up_at):
                return None

    def foresee(self, count: int) -> None:
        """So many may be needed at once, soon."""
        if count > self._most:
            self._most = min(MOST_READY, count)
            self.fill()

    def close(self) -> None:
        """End those that nobody used, and what they come from."""
        for spare in self._ready:
            spare.give_up()
        self._ready.clear()
        if self._refill:
            self._refill.cancel()
        if self._zygote:
            self._zygote.close()
            self._zygote = None
        self._asked = 0

    async def _wait(self, give_up_at: float) -> bool:
        """For somebody's hello; False if none will come."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Future[None] = loop.create_future()
        self._waiting.append(heard)
        try:
            self._ask(len(self._waiting) - self._asked)
            if self._zygote is None:
                return False
            loop.add_reader(self._zygote.hello, self._wake)
            async with asyncio.timeout_at(give_up_at):
                await heard
        except TimeoutError:
            return False
        finally:
            self._waiting.remove(heard)
            if not self._waiting and self._zygote is not None:
                loop.remove_reader(self._zygote.hello)
        return True

    def _wake(self) -> None:
        for heard in self._waiting:
            if not heard.done():
                heard.set_result(None)

    def _welcome(self) -> None:
        """Take in those that have said hello."""
        while self._zygote:
            try:
                said, files, _, _ = socket.recv_fds(self._zygote.hello, 64, 2)
            except BlockingIOError:
                return
            except OSError:
                said, files = b"", []
            if len(files) != 2:
                self._lose()
                return
            self._asked -= 1
            self._ready.append(Spare(int(said), socket.socket(fileno=files[0]), files[1]))

    def _lose(self) -> None:
        """The zygote is gone: the spares that are there stay good, and a later start may make a new one."""
        if self._zygote:
            with contextlib.suppress(RuntimeError):  # no loop runs when the last one is closed
                asyncio.get_running_loop().remove_reader(self._zygote.hello)
            self._zygote.close()
        self._zygote = None
        self._asked = 0
        self._lost += 1

    def _ask(self, count: int) -> None:
        """Ask for so many more, if there is somebody to ask."""
        if self._zygote is None and self._lost < MOST_LOST:
            self._zygote = _begin(self._words)
        if self._zygote and count > 0:
            self._asked += count
            self._zygote.ask(count)

    def _refill_later(self) -> None:
        if self._refill:
            self._refill.cancel()
        self._most = min(MOST_READY, self._most + 1)
        self._refill = asyncio.get_running_loop().call_later(QUIET_SECONDS, _fill, weakref.ref(self))

    def fill(self) -> None:
        """Have as many ready as were needed lately."""
        self._welcome()
        self._ask(self._most - len(self._ready) - self._asked)
        self._shrink_later()

    def shrink(self) -> None:
        """Nobody came for them."""
        self._welcome()
        self._most = max(1, self._most // 2)
        while len(self._ready) > self._most:
            self._ready.pop().give_up()
        if self._most > 1:
            self._shrink_later()

    def _shrink_later(self) -> None:
        self._refill = asyncio.get_running_loop().call_later(self._idle_seconds, _shrink, weakref.ref(self))


def _shrink(spares: weakref.ref[Spares]) -> None:
    if (there := spares()) is not None:
        there.shrink()


def _fill(spares: weakref.ref[Spares]) -> None:
    """A timer that kept them alive would keep their processes too."""
    if (there := spares()) is not None:
        there.fill()


class _Zygote:
    def __init__(self, process: subprocess.Popen[bytes], asking: int, hello: socket.socket) -> None:
        self.hello = hello
        self._asking = asking
        self._end = weakref.finalize(self, _end, process, asking, hello)

    def ask(self, count: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # its hello says so, too
            os.write(self._asking, b"+" * count)

    def close(self) -> None:
        self._end()


def _begin(words: tuple[str, str]) -> _Zygote | None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    reading, asking = os.pipe()
    try:
        process = subprocess.Popen(
            (*ZYGOTE, *words, str(theirs.fileno())),
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": SYSTEM_PATH},
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    except OSError:
        ours.close()
        os.close(asking)
        return None
    finally:
        theirs.close()
        os.close(reading)
    return _Zygote(process, asking, ours)


def _end(process: subprocess.Popen[bytes], asking: int, hello: socket.socket) -> None:
    os.close(asking)
    hello.close()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _close(orders: socket.socket, handle: int) -> None:
    orders.close()
    os.close(handle)


def _is_readable(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _written(told: Instructions) -> bytes:
    """The order as zygote.py reads it: words with a NUL between them, each list with its length before it."""
    env = [f"{name}={value}" for name, value in told.env.items()]
    lines = [" ".join(map(str, told.descriptors)), told.directory, *map(repr, told.deadlines)]
    for words in (told.words, env, told.argv):
        lines += [str(len(words)), *words]
    if any("\0" in line for line in lines):
        raise ValueError("embedded null byte")
    return b"\0".join(map(os.fsencode, lines))
