"""Virtual time: an event loop in which waiting costs nothing, and the dice of one simulated run.

Rules:
1. Time moves only when nobody has anything left to do now; then it jumps to the next timer.
2. Nothing outside the simulation can wake it, so a loop without timers is a deadlock, and says so.
3. All chance comes from `Simulation.dice`, one stream per purpose, so that a new throw for one purpose leaves
   the throws of another as they were.
"""

import asyncio
import hashlib
import random
import selectors
import warnings
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

KEPT_LINES = 4000
"""The newest lines of the trace, for whoever looks at a failing seed."""


MAX_TURNS = 300_000
"""A usual run takes some thousand."""


class Deadlock(Exception):
    """Everybody waits, and nothing will ever happen."""


class TooLong(Exception):
    """The simulated run did not come to rest in the time it was given."""


class _VirtualSelector(selectors.SelectSelector):
    """A selector that does not wait: it puts the clock forward."""

    now = 0.0
    turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Deadlock(f"at {self.now:.3f} s everybody waits and no timer is set")
        self.turns += 1
        if self.turns > MAX_TURNS:
            raise TooLong(f"at {self.now:.3f} s the loop has turned {self.turns} times; somebody spins")
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time, starting at 0."""

    def __init__(self) -> None:
        self._clock = _VirtualSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def begin_anew(self) -> None:
        """Count its turns from here on."""
        self._clock.turns = 0


class Simulation:
    """One run: its seed, its dice, its time and its trace."""

    def __init__(self, seed: int, loop: VirtualLoop) -> None:
        self.seed = seed
        self.loop = loop
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._hash = hashlib.sha256()

    def dice(self, purpose: str) -> random.Random:
        """A stream of chance of its own. Seeded by text, so the interpreter's hash seed plays no part."""
        return random.Random(f"{self.seed}/{purpose}")

    def now(self) -> float:
        return self.loop.time()

    def note(self, line: str) -> None:
        """Add a line to the trace."""
        line = f"{self.loop.time():12.4f} {line}"
        self.lines.append(line)
        self._hash.update(line.encode() + b"\n")

    @property
    def trace_hash(self) -> str:
        """Equal for equal runs."""
        return self._hash.hexdigest()


def simulate(seed: int, main: Callable[[Simulation], Coroutine[Any, Any, T]]) -> T:
    """Run `main` on virtual time until it returns; whatever else still waits then is dropped."""
    loop = VirtualLoop()
    with warnings.catch_warnings():
        # A process that dies leaves coroutines it had made and not begun; that is what dying means.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        try:
            return loop.run_until_complete(main(Simulation(seed, loop)))
        finally:
            loop.begin_anew()  # one that turned too often must still be able to end
            _drop_the_rest(loop)
            loop.close()


def _drop_the_rest(loop: VirtualLoop) -> None:
    """Cancel until nobody is left: a task may wait again in its `finally`."""
    loop.set_exception_handler(lambda _loop, _context: None)
    for _ in range(10):
        rest = asyncio.all_tasks(loop)
        if not rest:
            return
        for task in rest:
            task.cancel()
        loop.run_until_complete(asyncio.wait(rest, timeout=1.0))
