"""What is done when there is nothing better to do: agents that start or have ended come first."""

import asyncio
from collections.abc import Awaitable, Callable

QUIET_SECONDS = 0.1
"""Without anything to do: a burst of starts and ends is over then."""
LONGEST_SECONDS = 5.0
"""A machine may never come to rest; chores are done then all the same."""


class Chores:
    """A few acts that can wait, done one after the other as soon as it has been quiet for a moment."""

    def __init__(self, *acts: Callable[[], Awaitable[None]], quiet_seconds: float = QUIET_SECONDS) -> None:
        self._acts = acts
        self._quiet_seconds = quiet_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None

    def put_off(self) -> None:
        """Something is to be done first: the chores are for a moment later."""
        loop = asyncio.get_running_loop()
        if self._timer is None:
            self._due = loop.time() + LONGEST_SECONDS
        else:
            self._timer.cancel()
        self._timer = loop.call_at(min(loop.time() + self._quiet_seconds, self._due), self._begin)

    async def close(self) -> None:
        """Leave undone what is not done yet."""
        if self._timer:
            self._timer.cancel()
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _begin(self) -> None:
        self._timer = None
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._do())
        else:
            self.put_off()  # what has come up meanwhile

    async def _do(self) -> None:
        for act in self._acts:
            await act()
