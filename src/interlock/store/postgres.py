"""The logs of many projects in one Postgres database, for controllers on several machines."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql

from interlock.events.facts import Fact
from interlock.events.record import GENESIS, Recorded
from interlock.model.claim import Claim, Held
from interlock.model.errors import EnvironmentProblem
from interlock.model.task import TaskId
from interlock.store.log import Bell, Head, LogClock, checked_rows, epochs_in, export_lines, rows_after
from interlock.store.postgres_server import SQL, Arguments, Connection, PostgresServer, rows
from interlock.store.problems import another_owner, claimed, not_empty, stale
from interlock.store.protocol import FactsFor

DEAF_SECONDS = 1.0
"""Interval at which `wait` reads the log while the listening connection is lost."""
BATCH = 10_000
"""Facts per statement, so that a restore does not need the memory of the whole log twice."""


End = tuple[Head, float]


class PostgresStore:
    """A Store for one project among others in the database."""

    def __init__(self, url: str, project: str) -> None:
        self._project = _Project(project)
        self._server = PostgresServer(url)
        self._bell = Bell()
        self._listener = Listener(self._server.connect, self._project.channel, self._bell)

    @property
    def notice(self) -> str:
        return self._server.notice

    async def identify(self, lineage: str) -> None:
        known = await self._rows("owner") or await self._rows("own", {"lineage": lineage})
        if known[0][0] != lineage:
            what = f"the project `{self._project.name}` of the database"
            raise another_owner(what, "project_name", known[0][0])

    async def append(self, facts: Sequence[Fact], actor: str, fences: Sequence[Claim] = ()) -> list[Recorded]:
        async def work(connection: Connection) -> list[Recorded]:
            end = await self._project.lock(connection)
            await self._project.check(connection, fences)
            return await self._project.append(connection, end, facts, actor)

        return await self._server.transaction(work)

    async def read(self, after: int, limit: int = 1000) -> list[Recorded]:
        return [Recorded(*row) for row in await self._rows("read", {"after": after, "limit": limit})]

    async def about_task(self, task: TaskId) -> list[Recorded]:
        return [Recorded(*row) for row in await self._rows("about_task", {"task": task})]

    async def about_commit(self, prefix: str) -> list[Recorded]:
        found = await self._rows("about_commit", {"first": prefix, "last": f"{prefix}~"})
        return [Recorded(*row) for row in found]

    async def head(self) -> int:
        return int((await self._rows("head"))[0][0])

    async def wait(self, after: int, timeout_seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        try:
            await self._listener.start()
        except psycopg.Error as error:
            raise self._server.explain(error) from error
        while True:
            rings = self._bell.rings
            if await self.head() > after:
                return True
            remaining = deadline - loop.time()
            if remaining <= 0:
                return False
            pause = remaining if self._listener.hears else min(remaining, DEAF_SECONDS)
            await self._bell.wait_for_ring(rings, pause)

    async def claim(
        self,
        resource: str,
        holder: str,
        lease_seconds: float,
        facts: FactsFor,
        fence: Claim | None = None,
        takeover: int | None = None,
    ) -> tuple[Claim, list[Recorded]] | None:
        wish: Arguments = {
            "resource": resource,
            "holder": holder,
            "generation": fence.epoch if fence else 0,
            "lease_seconds": lease_seconds,
            "takeover": takeover,
        }

        async def work(connection: Connection) -> tuple[Claim, list[Recorded]] | None:
            end = await self._project.lock(connection)
            await self._project.check(connection, [fence] if fence else [])
            taken = await self._project.rows(connection, "claim", wish)
            if not taken:
                return None
            claim = claimed(resource, taken[0][0], holder, fence)
            return claim, await self._project.append(connection, end, facts(claim.epoch), holder)

        return await self._server.transaction(work)

    async def renew(self, claim: Claim, lease_seconds: float, note: str = "") -> bool:
        return bool(await self._rows("renew", {**_key(claim), "lease_seconds": lease_seconds, "note": note}))

    async def release(
        self, claim: Claim, facts: Sequence[Fact] = (), actor: str = "", fences: Sequence[Claim] = ()
    ) -> list[Recorded]:
        async def work(connection: Connection) -> list[Recorded]:
            end = await self._project.lock(connection)
            await self._project.check(connection, fences)
            if not await self._project.rows(connection, "release", _key(claim)):
                raise stale(claim)
            return await self._project.append(connection, end, facts, actor or claim.holder)

        return await self._server.transaction(work)

    async def revoke(self, resource: str, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        async def work(connection: Connection) -> list[Recorded]:
            end = await self._project.lock(connection)
            await self._project.rows(connection, "revoke", {"resource": resource, "holder": actor})
            return await self._project.append(connection, end, facts, actor)

        return await self._server.transaction(work)

    async def raise_epoch(self, resource: str, epoch: int) -> bool:
        return bool(await self._rows("raise_epoch", {"resources": [resource], "epochs": [epoch]}))

    async def held(self) -> list[Held]:
        return [
            Held(Claim(resource, epoch, holder, generation), expires_in, note, renewed_ago)
            for resource, epoch, holder, generation, expires_in, note, renewed_ago in await self._rows("held")
        ]

    async def now(self) -> float:
        return self._project.clock.read(*(await self._rows("now"))[0])

    async def save_snapshot(self, seq: int, data: bytes) -> None:
        await self._rows("save_snapshot", {"seq": seq, "data": data})

    async def load_snapshot(self) -> tuple[int, str, bytes] | None:
        found = await self._rows("load_snapshot")
        if not found:
            return None
        seq, hash, data = found[0]
        return seq, hash or GENESIS, data

    def export(self) -> AsyncIterator[str]:
        return export_lines(self.read)

    async def restore(self, lines: AsyncIterator[str]) -> int:
        restored = await checked_rows(lines)
        epochs = epochs_in(restored)

        async def work(connection: Connection) -> int:
            head, _ = await self._project.lock(connection)
            if head.seq:
                raise not_empty(head.seq)
            known: Arguments = {"resources": list(epochs), "epochs": list(epochs.values())}
            await self._project.rows(connection, "raise_epoch", known)
            await self._project.rows(connection, "drop_snapshot")
            await self._project.insert(connection, restored)
            return len(restored)

        return await self._server.transaction(work)

    async def close(self) -> None:
        await self._listener.close()
        await self._server.close()

    async def _rows(self, name: str, arguments: Arguments | None = None) -> list[tuple[Any, ...]]:
        return await self._server.run(lambda connection: self._project.rows(connection, name, arguments))


class _Project:
    """The part of the database that is one project's. Its methods run inside a transaction of the caller."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.clock = LogClock()
        # A channel is an identifier of at most 63 bytes; a project may be called anything.
        self.channel = f"interlock_{hashlib.sha256(name.encode()).hexdigest()[:32]}"

    async def rows(
        self, connection: Connection, name: str, arguments: Arguments | None = None
    ) -> list[tuple[Any, ...]]:
        return await rows(connection, name, {**(arguments or {}), "project": self.name})

    async def lock(self, connection: Connection) -> End:
        """Lock the log and the epochs until the commit; return the end of the log and the time."""
        *head, now = (await self.rows(connection, "lock_head", {"genesis": GENESIS}))[0]
        return Head(*head), self.clock.read(now, head[2])

    async def check(self, connection: Connection, fences: Sequence[Claim]) -> None:
        for fence in fences:
            if not await self.rows(connection, "holds", _key(fence)):
                raise stale(fence)

    async def append(
        self, connection: Connection, end: End, facts: Sequence[Fact], actor: str
    ) -> list[Recorded]:
        return await self.insert(connection, rows_after(*end, actor, facts))

    async def insert(self, connection: Connection, new: list[Recorded]) -> list[Recorded]:
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            columns = {name: [getattr(row, name) for row in batch] for name in _COLUMNS}
            await connection.execute(SQL["append"], {**columns, "project": self.name})
        if new:
            seq, hash, time = new[-1].seq, new[-1].hash, new[-1].time
            head: Arguments = {"seq": seq, "hash": hash, "time": time, "channel": self.channel}
            await self.rows(connection, "move_head", head)
        return new


_COLUMNS = ("seq", "time", "actor", "kind", "body", "hash")


def _key(claim: Claim) -> dict[str, str | int]:
    return {"resource": claim.resource, "epoch": claim.epoch, "holder": claim.holder}


# Hears of appends by other processes, on a connection of its own.

RECONNECT_SECONDS = 1.0


class Listener:
    """Rings the bell for every append it hears of, and whenever it may have missed one."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], channel: str, bell: Bell) -> None:
        self._connect = connect
        self._listen = sql.SQL(SQL["listen"].decode()).format(channel=sql.Identifier(channel))
        self._bell = bell
        self._starting = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.hears = False
        """False while the connection is lost: a waiter must then read the log at intervals."""

    async def start(self) -> None:
        async with self._starting:
            if self._task is None:
                self._task = asyncio.create_task(self._hear(await self._dial()))

    async def close(self) -> None:
        task, self._task, self.hears = self._task, None, False
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _dial(self) -> Connection:
        connection = await self._connect()
        try:
            await connection.execute(self._listen)
        except BaseException:
            await connection.close()
            raise
        self.hears = True
        return connection

    async def _hear(self, connection: Connection) -> None:
        while True:
            try:
                async for _ in connection.notifies():
                    self._bell.ring()
            except psycopg.Error:
                # Lost. Those who wait look for themselves, and meet the error if the server is gone.
                self.hears = False
            finally:
                await connection.close()
            self._bell.ring()
            connection = await self._redial()
            self._bell.ring()

    async def _redial(self) -> Connection:
        while True:
            with suppress(psycopg.Error, EnvironmentProblem):
                return await self._dial()
            await asyncio.sleep(RECONNECT_SECONDS)
