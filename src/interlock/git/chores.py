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
        self._at = self._due = 0.0
        self._is_wanted = False
        self._task: asyncio.Task[None] | None = None

    def put_off(self) -> None:
        """Something is to be done first: the chores are for a moment later."""
        loop = asyncio.get_running_loop()
        if not self._is_wanted:
            self._due = loop.time() + LONGEST_SECONDS
        self._is_wanted = True
        self._at = min(loop.time() + self._quiet_seconds, self._due)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._do_when_quiet())

    async def close(self) -> None:
        """Leave undone what is not done yet."""
        if self._task and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _do_when_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        while self._is_wanted:
            if (left := self._at - loop.time()) > 0:
                await asyncio.sleep(left)
                continue
            self._is_wanted = False
            for act in self._acts:
                await act()
