"""The log as one engine knows it: folded, indexed, and written to in one way.

Writes are repeated until it is known that they happened. Facts may therefore stand twice in the log; the fold
counts only the first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import count

from interlock.engine.loading import load_state
from interlock.events.facts import Fact, MainSeen
from interlock.events.fold import apply
from interlock.events.record import Recorded, verify_chain
from interlock.events.snapshot import pack
from interlock.events.state import State
from interlock.learn import Meter
from interlock.model.claim import Claim
from interlock.model.errors import StoreUnavailable
from interlock.schedule import Board
from interlock.store.protocol import Store
from interlock.train import retry

Watch = Callable[[Recorded, State], None]
Tell = Callable[[str], None]

SNAPSHOT_EVERY = 2_000
"""Facts between snapshots: folding this many takes some 30 ms."""


class Ledger:
    """State and Board, kept up with the store."""

    def __init__(self, store: Store, actor: str, watch: Watch, tell: Tell) -> None:
        self._store = store
        self._actor = actor
        self._watch = watch
        self.tell = tell
        self._snapshot_at = 0
        self._saving: asyncio.Task[None] | None = None
        """A snapshot on its way to the store."""
        self._moves_being_written = 0
        self._is_move_unread = False
        self.state = State()
        self.board = Board(self.state)
        self.meter = Meter()
        """The figures of the run, from its own RunStarted on."""

    async def open(self) -> None:
        """Start from the newest snapshot that fits the log, then read the rest."""
        self.state = await load_state(self._store)
        self._snapshot_at = self.state.seq
        self.board = Board(self.state)

    @property
    def main_has_moved(self) -> bool:
        """True if the log has, or may have, a move of main that `state` does not show yet."""
        return self._moves_being_written > 0 or self._is_move_unread

    async def catch_up(self) -> None:
        """Fold the facts that were written since, by any process."""
        self._is_move_unread = False
        while rows := await self._store.read(self.state.seq):
            verify_chain(rows, self.state.hash, self.state.seq + 1)
            for row in rows:
                changed = apply(self.state, row)
                self.board.update(changed)
                self.meter = self.meter.after(row, self.state, changed)
                self._watch(row, self.state)
        is_saved = self._saving is None or self._saving.done()
        if is_saved and self.state.seq - self._snapshot_at >= SNAPSHOT_EVERY:
            self._snapshot_at = self.state.seq
            self._saving = asyncio.create_task(self._save_meanwhile())

    async def save_snapshot(self) -> None:
        """Save a snapshot, from which the next reader of this log starts. The fold may go on meanwhile: the
        bytes are made before anything is waited for."""
        await self._store.save_snapshot(self.state.seq, pack(self.state))

    async def _save_meanwhile(self) -> None:
        with suppress(StoreUnavailable):  # a shortcut: the next one is tried all the same
            await self.save_snapshot()

    async def close(self, seconds: float) -> None:
        """Wait so long for a snapshot that is on its way, and give it up after that."""
        if self._saving:
            await asyncio.wait([self._saving], timeout=seconds)
            self._saving.cancel()
            await asyncio.wait([self._saving])

    async def append(self, facts: Sequence[Fact], *fences: Claim) -> None:
        """Write facts, trying again while the store cannot be used. `StaleEpoch` when a fence has fallen."""

        async def write() -> None:
            await self._store.append(facts, self._actor, fences)

        await self._insist(write, facts)

    async def release(self, claim: Claim, facts: Sequence[Fact], *fences: Claim) -> None:
        """Write the last facts of a claim and give it back, like `append`."""

        async def write() -> None:
            await self._store.release(claim, facts, self._actor, fences)

        await self._insist(write, facts)

    async def _insist(self, write: Callable[[], Awaitable[None]], facts: Sequence[Fact]) -> None:
        moves_main = any(isinstance(fact, MainSeen) for fact in facts)
        self._moves_being_written += moves_main
        try:
            await self._try_until_written(write)
        finally:
            self._moves_being_written -= moves_main
            self._is_move_unread = self._is_move_unread or moves_main

    async def _try_until_written(self, write: Callable[[], Awaitable[None]]) -> None:
        for times in count():
            try:
                await write()
                return
            except StoreUnavailable as problem:
                delay = retry.log_delay(retry.WRITE_SECONDS, times)
                self.tell(f"the log cannot be written: {problem}; trying again in {delay:g} s")
                await asyncio.sleep(delay)
