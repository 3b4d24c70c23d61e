"""Watches how much a program has on the disk: the less room is left, the more often, and once at its end."""

import asyncio
from collections.abc import Callable

from interlock.model.sandbox import Grant
from interlock.sandbox.folders import used_bytes

SHARE = 20.0
"""Counting files takes at most one part in so many of a processor."""
SHARE_NEAR = 3.0
"""The same when the limit may be reached before the next look."""
BYTES_PER_SECOND = 1 << 30
"""Speed at which programs write into the memory that the kernel keeps for the disk."""
LEAST_SECONDS = 0.05


class DiskWatch:
    """Watches the disk use of one program, in a thread. Big folders are counted less often."""

    def __init__(self, grant: Grant | None, most_bytes: int, seconds: float) -> None:
        """`seconds`: the pause while the folders are far from full. 0 bytes: there is no limit."""
        self._loop = asyncio.get_running_loop()
        self._folders = grant.on_disk if grant and most_bytes else ()
        self._most = most_bytes
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    def begin(self, supervisor: int, over: Callable[[], None]) -> None:
        """Call `over` once there is more than the limit."""
        if self._folders:
            self._look_later(self._most, 0.0, supervisor, over)

    def stop(self) -> None:
        self._is_over = True
        if self._timer:
            self._timer.cancel()

    def look_last(self, then: Callable[[bool], None]) -> None:
        """The program has ended: is it over the limit now, by what it wrote since the last look."""
        self.stop()
        if not self._folders:
            then(False)
            return
        counting = self._loop.run_in_executor(None, used_bytes, self._folders, self._most)
        counting.add_done_callback(lambda used: then(self._counted(used) > self._most))

    def _look_later(self, room: int, took: float, supervisor: int, over: Callable[[], None]) -> None:
        until_full = room / BYTES_PER_SECOND
        share = SHARE if until_full > took * SHARE else SHARE_NEAR
        pause = max(LEAST_SECONDS, took * share, min(self._seconds, until_full))
        self._timer = self._loop.call_later(pause, self._look, supervisor, over)

    def _look(self, supervisor: int, over: Callable[[], None]) -> None:
        began = self._loop.time()
        counting = self._loop.run_in_executor(None, used_bytes, self._folders, self._most, supervisor)

        def counted(used: "asyncio.Future[int]") -> None:
            if self._is_over:
                return
            if (total := self._counted(used)) > self._most:
                over()
            else:
                self._look_later(self._most - total, self._loop.time() - began, supervisor, over)

        counting.add_done_callback(counted)

    def _counted(self, used: "asyncio.Future[int]") -> int:
        """Return the count. One that failed is over the limit: a watch that stops silently limits nothing."""
        return self._most + 1 if used.exception() else used.result()
