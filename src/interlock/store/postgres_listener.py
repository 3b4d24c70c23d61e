"""Hears of appends by other processes, on a connection of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import psycopg
from psycopg import sql

from interlock.model.errors import EnvironmentProblem
from interlock.store.bell import Bell
from interlock.store.postgres_server import SQL, Connection

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
        """Listen from now on."""
        async with self._starting:
            if self._task is None:
                self._task = asyncio.create_task(self._hear(await self._dial()))

    async def close(self) -> None:
        """Stop listening."""
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
