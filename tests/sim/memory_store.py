"""The log in memory: an honest Store without a disk, for simulated runs.

It passes the same contract suite as SQLite and Postgres. Every method does its work without an await, so each
is one transaction; "another connection" is the same object.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from interlock.events.facts import Fact
from interlock.events.record import GENESIS, Recorded
from interlock.events.snapshot import pack
from interlock.events.state import State
from interlock.model.claim import Claim, Held
from interlock.model.task import TaskId
from interlock.store.log import Bell, Head, LogClock, checked_rows, epochs_in, export_lines, rows_after
from interlock.store.problems import another_owner, not_empty, stale
from interlock.store.protocol import FactsFor


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the claim table."""

    claim: Claim
    expires: float
    renewed: float
    note: str = ""
    released: bool = False


class MemoryStore:
    """A Store whose clock is an argument; `ticks` is the steady clock beside it (default: the same)."""

    def __init__(
        self, clock: Callable[[], float], ticks: Callable[[], float] | None = None, begin: State | None = None
    ) -> None:
        """`begin`: the state that an engine begins to fold from, if it is not the usual one."""
        self._clock = clock
        self._log_clock = LogClock(ticks or clock)
        self._log: list[Recorded] = []
        self._claims: dict[str, _Row] = {}
        self._snapshot: tuple[int, bytes] | None = (0, pack(begin)) if begin else None
        self._bell = Bell()
        self._owner = ""

    notice = ""

    async def identify(self, lineage: str) -> None:
        self._owner = self._owner or lineage
        if lineage and lineage != self._owner:
            raise another_owner("the log in memory", "store", self._owner)

    async def append(self, facts: Sequence[Fact], actor: str, fences: Sequence[Claim] = ()) -> list[Recorded]:
        self._check(fences)
        return self._write(self._rows(facts, actor))

    async def read(self, after: int, limit: int = 1000) -> list[Recorded]:
        return self._log[after : after + limit]

    async def about_task(self, task: TaskId) -> list[Recorded]:
        return [row for row in self._log if _subject(row.fact) == task]

    async def about_commit(self, prefix: str) -> list[Recorded]:
        return [row for row in self._log if str(getattr(row.fact, "commit", "")).startswith(prefix)]

    async def head(self) -> int:
        return len(self._log)

    async def wait(self, after: int, timeout_seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        while len(self._log) <= after:
            remaining = deadline - loop.time()
            if remaining <= 0 or not await self._bell.wait_for_ring(self._bell.rings, remaining):
                return len(self._log) > after
        return True

    async def claim(
        self,
        resource: str,
        holder: str,
        lease_seconds: float,
        facts: FactsFor,
        fence: Claim | None = None,
        takeover: int | None = None,
    ) -> tuple[Claim, list[Recorded]] | None:
        if fence is not None:
            self._check([fence])
        generation = fence.epoch if fence is not None else 0
        row = self._claims.get(resource)
        if row is not None and not self._is_free(row, generation, takeover):
            return None
        claim = Claim(resource, row.claim.epoch + 1 if row else 1, holder, generation)
        rows = self._rows(facts(claim.epoch), holder)
        now = self._clock()
        self._claims[resource] = _Row(claim, now + lease_seconds, now)
        return claim, self._write(rows)

    async def renew(self, claim: Claim, lease_seconds: float, note: str = "") -> bool:
        row = self._claims.get(claim.resource)
        if row is None or not self._is_ours(row, claim):
            return False
        now = self._clock()
        self._claims[claim.resource] = replace(row, expires=now + lease_seconds, renewed=now, note=note)
        return True

    async def release(
        self, claim: Claim, facts: Sequence[Fact] = (), actor: str = "", fences: Sequence[Claim] = ()
    ) -> list[Recorded]:
        self._check([claim, *fences])
        rows = self._rows(facts, actor or claim.holder)
        self._claims[claim.resource] = replace(self._claims[claim.resource], released=True)
        return self._write(rows)

    async def revoke(self, resource: str, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        rows = self._rows(facts, actor)
        row = self._claims.get(resource)
        now = self._clock()
        claim = Claim(resource, row.claim.epoch + 1 if row else 1, actor)
        self._claims[resource] = _Row(claim, now, now, released=True)
        return self._write(rows)

    async def raise_epoch(self, resource: str, epoch: int) -> bool:
        row = self._claims.get(resource)
        if epoch <= (row.claim.epoch if row else 0):
            return False
        now = self._clock()
        self._claims[resource] = _Row(Claim(resource, epoch, ""), now, now, released=True)
        return True

    async def held(self) -> list[Held]:
        now = self._clock()
        return [
            Held(row.claim, row.expires - now, row.note, now - row.renewed)
            for _, row in sorted(self._claims.items())
            if not row.released
        ]

    async def now(self) -> float:
        return self._log_clock.read(self._clock(), self._log[-1].time if self._log else 0.0)

    async def save_snapshot(self, seq: int, data: bytes) -> None:
        if self._snapshot is None or self._snapshot[0] <= seq:
            self._snapshot = seq, data

    async def load_snapshot(self) -> tuple[int, str, bytes] | None:
        if self._snapshot is None or self._snapshot[0] > len(self._log):
            return None
        seq, data = self._snapshot
        return seq, self._log[seq - 1].hash if seq else GENESIS, data

    def export(self) -> AsyncIterator[str]:
        return export_lines(self.read)

    async def restore(self, lines: AsyncIterator[str]) -> int:
        rows = await checked_rows(lines)
        if self._log:
            raise not_empty(len(self._log))
        for resource, epoch in epochs_in(rows).items():
            await self.raise_epoch(resource, epoch)
        self._snapshot = None
        return len(self._write(rows))

    async def close(self) -> None:
        """Nothing to give back: the log lives as long as the object."""

    def _check(self, fences: Sequence[Claim]) -> None:
        for fence in fences:
            row = self._claims.get(fence.resource)
            if row is None or not self._is_ours(row, fence):
                raise stale(fence)

    def _is_ours(self, row: _Row, claim: Claim) -> bool:
        return not row.released and (row.claim.epoch, row.claim.holder) == (claim.epoch, claim.holder)

    def _is_free(self, row: _Row, generation: int, takeover: int | None) -> bool:
        lease_over = row.expires <= self._clock()
        return row.released or lease_over or row.claim.generation < generation or row.claim.epoch == takeover

    def _rows(self, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        last = self._log[-1] if self._log else None
        head = Head(last.seq, last.hash, last.time) if last else Head()
        return rows_after(head, self._log_clock.read(self._clock(), head.time), actor, facts)

    def _write(self, rows: list[Recorded]) -> list[Recorded]:
        self._log.extend(rows)
        if rows:
            self._bell.ring()
        return rows


def _subject(fact: Fact) -> str | None:
    named = getattr(fact, "task", None)
    return getattr(named, "id", named)
