"""The log in one SQLite file: the embedded default, for all processes of one machine.

The calls are made inline: a commit takes about half a millisecond, too little to hold the event loop up.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from operator import attrgetter
from typing import Any

from interlock.events.facts import Fact
from interlock.events.record import GENESIS, Recorded, broken
from interlock.model.claim import Claim, Held
from interlock.model.task import TaskId
from interlock.store.log import Bell, Head, LogClock, checked_rows, epochs_in, export_lines, rows_after
from interlock.store.problems import another_owner, claimed, not_empty, stale
from interlock.store.protocol import FactsFor
from interlock.store.sqlite_file import LOCK_SECONDS, SQL, SqliteFile, Work, raw_rows

POLL_SECONDS = 0.1
"""Interval at which `wait` looks for writes of other processes; a write of this process wakes it at once."""

_columns = attrgetter("seq", "time", "actor", "kind", "body", "hash")


class SqliteStore:
    """A Store on a file. The file is one project's."""

    def __init__(self, path: str, lock_seconds: float = LOCK_SECONDS) -> None:
        self._file = SqliteFile(path, lock_seconds)
        self._bell = Bell()
        self._clock = LogClock()

    @property
    def notice(self) -> str:
        return self._file.notice

    async def identify(self, lineage: str) -> None:
        known = await self._file.rows("owner")
        if lineage and known in ([], [("",)]):
            await self._file.transaction(lambda db: db.execute(SQL["own"], {"lineage": lineage}))
            known = await self._file.rows("owner")
        if lineage and known != [(lineage,)]:
            raise another_owner(f"the log {self._file.path}", "store", known[0][0])

    async def append(self, facts: Sequence[Fact], actor: str, fences: Sequence[Claim] = ()) -> list[Recorded]:
        def work(db: sqlite3.Connection) -> list[Recorded]:
            _check(db, fences)
            return self._append(db, facts, actor)

        return await self._write(work)

    async def read(self, after: int, limit: int = 1000) -> list[Recorded]:
        return _recorded(await self._file.rows("read", (after, limit)))

    async def about_task(self, task: TaskId) -> list[Recorded]:
        return _recorded(await self._file.rows("about_task", (task,)))

    async def about_commit(self, prefix: str) -> list[Recorded]:
        return _recorded(await self._file.rows("about_commit", (prefix, f"{prefix}~")))

    async def head(self) -> int:
        return int((await self._file.rows("head"))[0][0])

    async def wait(self, after: int, timeout_seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        seen, rang = -1, True
        while True:
            # Both are taken before the look at the log: what is written in between shows in the next round.
            rings = self._bell.rings
            version = (await self._file.rows("data_version"))[0][0]
            if (rang or version != seen) and await self.head() > after:
                return True
            seen, remaining = version, deadline - loop.time()
            if remaining <= 0:
                return False
            rang = await self._bell.wait_for_ring(rings, min(POLL_SECONDS, remaining))

    async def claim(
        self,
        resource: str,
        holder: str,
        lease_seconds: float,
        facts: FactsFor,
        fence: Claim | None = None,
        takeover: int | None = None,
    ) -> tuple[Claim, list[Recorded]] | None:
        wish = {
            "resource": resource,
            "holder": holder,
            "generation": fence.epoch if fence else 0,
            "lease_seconds": lease_seconds,
            "takeover": takeover,
        }

        def work(db: sqlite3.Connection) -> tuple[Claim, list[Recorded]] | None:
            _check(db, [fence] if fence else [])
            taken = db.execute(SQL["claim"], wish).fetchall()
            if not taken:
                return None
            claim = claimed(resource, taken[0][0], holder, fence)
            return claim, self._append(db, facts(claim.epoch), holder)

        got = await self._file.transaction(work)
        if got and got[1]:
            self._bell.ring()
        return got

    async def renew(self, claim: Claim, lease_seconds: float, note: str = "") -> bool:
        wish = _key(claim) | {"lease_seconds": lease_seconds, "note": note}
        return bool(await self._file.transaction(lambda db: db.execute(SQL["renew"], wish).fetchall()))

    async def release(
        self, claim: Claim, facts: Sequence[Fact] = (), actor: str = "", fences: Sequence[Claim] = ()
    ) -> list[Recorded]:
        def work(db: sqlite3.Connection) -> list[Recorded]:
            _check(db, fences)
            if not db.execute(SQL["release"], _key(claim)).fetchall():
                raise stale(claim)
            return self._append(db, facts, actor or claim.holder)

        return await self._write(work)

    async def revoke(self, resource: str, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        def work(db: sqlite3.Connection) -> list[Recorded]:
            db.execute(SQL["revoke"], {"resource": resource, "holder": actor})
            return self._append(db, facts, actor)

        return await self._write(work)

    async def raise_epoch(self, resource: str, epoch: int) -> bool:
        wish = {"resource": resource, "epoch": epoch}
        return bool(await self._file.transaction(lambda db: db.execute(SQL["raise_epoch"], wish).fetchall()))

    async def held(self) -> list[Held]:
        rows = await self._file.rows("held")
        return [
            Held(Claim(resource, epoch, holder, generation), expires_in, note, renewed_ago)
            for resource, epoch, holder, generation, expires_in, note, renewed_ago in rows
        ]

    async def now(self) -> float:
        return self._clock.read(*(await self._file.rows("now"))[0])

    async def save_snapshot(self, seq: int, data: bytes) -> None:
        # In a thread: the loop goes on while megabytes reach the disk.
        await self._file.apart(lambda db: db.execute(SQL["save_snapshot"], {"seq": seq, "data": data}))

    async def load_snapshot(self) -> tuple[int, str, bytes] | None:
        rows = await self._file.rows("load_snapshot")
        if not rows:
            return None
        seq, hash, data = rows[0]
        return seq, hash or GENESIS, data

    def export(self) -> AsyncIterator[str]:
        return export_lines(self._read_damaged)

    async def _read_damaged(self, after: int, limit: int) -> list[Recorded]:
        """Read facts of a log that may be damaged: an export keeps what is left. The chain shows the damage,
        because it does not fit what stands in place of bytes that are no text."""
        rows = await self._file.run(lambda db: raw_rows(db, "read", (after, limit)))
        return [Recorded(*map(_as_text, row)) for row in rows]

    async def restore(self, lines: AsyncIterator[str]) -> int:
        rows = await checked_rows(lines)

        def work(db: sqlite3.Connection) -> list[Recorded]:
            if facts := db.execute(SQL["head"]).fetchone()[0]:
                raise not_empty(facts)
            epochs = [{"resource": resource, "epoch": epoch} for resource, epoch in epochs_in(rows).items()]
            for known in epochs:
                db.execute(SQL["raise_epoch"], known).fetchall()
            db.execute(SQL["drop_snapshot"])
            return _insert(db, rows)

        return len(await self._write(work))

    async def close(self) -> None:
        await self._file.close()

    def _append(self, db: sqlite3.Connection, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        last = db.execute(SQL["last"]).fetchone()
        now = self._clock.read(*db.execute(SQL["now"]).fetchone())
        return _insert(db, rows_after(Head(*last) if last else Head(), now, actor, facts))

    async def _write(self, work: Work[list[Recorded]]) -> list[Recorded]:
        rows = await self._file.transaction(work)
        if rows:
            self._bell.ring()
        return rows


# Any: SQLite gives its rows no types.
def _recorded(rows: list[Any]) -> list[Recorded]:
    """The rows as facts. One flipped bit can make a number or bytes of a text: such a row is damaged."""
    for seq, time, *texts in rows:
        if type(time) is not float or any(type(text) is not str for text in texts):
            raise broken(seq, "has a value of another type")
    return [Recorded(*row) for row in rows]


def _as_text(cell: Any) -> Any:
    return cell.decode(errors="replace") if isinstance(cell, bytes) else cell


def _key(claim: Claim) -> dict[str, str | int | float]:
    return {"resource": claim.resource, "epoch": claim.epoch, "holder": claim.holder}


def _check(db: sqlite3.Connection, fences: Sequence[Claim]) -> None:
    for fence in fences:
        if not db.execute(SQL["holds"], _key(fence)).fetchall():
            raise stale(fence)


def _insert(db: sqlite3.Connection, rows: list[Recorded]) -> list[Recorded]:
    db.executemany(SQL["append"], map(_columns, rows))
    return rows
