"""Priority on a busy machine: an agent's start goes before an import.

An import takes a dozen processes and is less urgent than the next agent of a free slot. So one
that could begin now lets those go first that are about to start, for a while.
"""

import asyncio

PATIENCE_SECONDS = 0.5
"""Many agents start within this. An import waits no longer: another task may wait for its result."""
NOTICE_SECONDS = 0.01
"""So long it takes the engine to hear of an end, and to choose who is next."""


class Starts:
    """The attempts of one executor whose agents are about to start."""

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._patience_seconds = patience_seconds
        self._names: set[str] = set()
        self._none = asyncio.Event()
        self._none.set()
        self._foreseen = 0

    def foresee(self, count: int) -> None:
        """So many attempts wait for a slot."""
        self._foreseen = count

    def begin(self, name: str) -> None:
        """This one is about to start."""
        self._names.add(name)
        self._none.clear()

    def over(self, name: str) -> None:
        """It has started, or it never will."""
        self._names.discard(name)
        if not self._names:
            self._none.set()

    async def let_go_first(self) -> None:
        """Until none is about to start, or for a while."""
        if self._foreseen:
            await asyncio.sleep(NOTICE_SECONDS)
        try:
            async with asyncio.timeout(self._patience_seconds):
                await self._none.wait()
        except TimeoutError:
            pass
