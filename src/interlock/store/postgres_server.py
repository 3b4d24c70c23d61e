"""One connection to a Postgres server: made when it is first needed, made again once when it was lost.

1. What was lost before its commit was sent is not in the database, so it is done again.
2. What was lost while it committed may or may not be in the database; `StoreUnavailable` says so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from interlock.model.errors import StoreUnavailable, UsageError
from interlock.store.problems import lasting, migrated, newer_schema
from interlock.store.statements import SCHEMA, statements, steps_to

SQL = {name: sql.encode() for name, sql in statements("postgres").items()}

# Rows are as wide as their statement says; their types are known only to the server.
Connection = psycopg.AsyncConnection[tuple[Any, ...]]
Arguments = Mapping[str, str | int | float | bytes | Sequence[str | int | float] | None]
Result = TypeVar("Result")
Work = Callable[[Connection], Awaitable[Result]]

_DEFAULTS = {
    "application_name": "interlock",
    "connect_timeout": "10",
    # A server that vanished without a word is noticed within a minute, not after the system's two hours.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}


class PostgresServer:
    """Runs work on the server, one piece at a time. After `close` the next use connects again."""

    def __init__(self, url: str) -> None:
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error as error:
            # The message of the library may quote the password, so it is not passed on.
            raise UsageError(
                "the address of the Postgres server cannot be read",
                "write it as postgresql://user@host:5432/database",
            ) from error
        self._conninfo = make_conninfo("", **{**_DEFAULTS, **given, "client_encoding": "utf8"})
        self.where = "{}:{}/{}".format(*(given.get(key) or "" for key in ("host", "port", "dbname")))
        self.notice = ""
        self._connection: Connection | None = None
        self._lock = asyncio.Lock()

    async def connect(self) -> Connection:
        """A connection of its own, with our settings and tables."""
        connection = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
        try:
            await connection.execute(SQL["settings"])
            await self._prepare(connection)
        except psycopg.Error as error:
            lost = _is_lost(error, connection)
            await connection.close()
            if lost:
                raise _Lost(error) from error
            raise
        except BaseException:
            await connection.close()
            raise
        return connection

    async def run(self, work: Work[Result]) -> Result:
        """Do `work`; if the connection was lost, do it once more on a new one."""
        async with self._lock:
            try:
                try:
                    return await self._try(work)
                except _Lost:
                    return await self._try(work)
            except _Lost as lost:
                raise self.explain(lost.error) from lost.error
            except psycopg.Error as error:
                raise self.explain(error) from error

    async def transaction(self, work: Work[Result]) -> Result:
        """Do `work` in one transaction: all of it is committed, or none."""
        return await self.run(lambda connection: self._in_transaction(connection, work))

    async def close(self) -> None:
        async with self._lock:
            await self._disconnect()

    def explain(self, error: psycopg.Error) -> Exception:
        """Turn an error into one that says what a person can do. Our own mistakes are returned unchanged."""
        text = str(error).strip().split("\n", maxsplit=1)[0]
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return lasting(
                f"this role may not use the log at {self.where}: {text}",
                "use another role, or let the owner run `GRANT CREATE ON DATABASE ... TO ...`",
            )
        if isinstance(error, psycopg.DataError):  # a NUL, which SQLite can store
            return lasting(f"Postgres cannot store this: {text}", "keep such a log in a file of SQLite")
        if isinstance(error, psycopg.OperationalError | psycopg.InternalError):
            is_full = (error.sqlstate or "").startswith("53")
            hint = "make room on the server" if is_full else "start the server or correct its address"
            return StoreUnavailable(
                f"the log at {self.where} cannot be used now: {text}", f"{hint}, then run `interlock doctor`"
            )
        return error

    async def _try(self, work: Work[Result]) -> Result:
        connection = self._connection = self._connection or await self.connect()
        try:
            return await work(connection)
        except psycopg.Error as error:
            if _is_lost(error, connection):
                raise _Lost(error) from error
            raise
        finally:
            # Lost, or cancelled in the wrong moment: hanging up is the one sure way to leave a transaction.
            if connection.info.transaction_status != TransactionStatus.IDLE:
                await self._disconnect()

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _in_transaction(self, connection: Connection, work: Work[Result]) -> Result:
        await connection.execute(SQL["begin"])
        try:
            result = await work(connection)
        except BaseException:
            with suppress(psycopg.Error):
                await connection.rollback()
            raise
        try:
            await connection.commit()
        except psycopg.Error as error:
            if _is_lost(error, connection):
                raise StoreUnavailable(
                    f"the connection to {self.where} was lost during a commit, which may have been made",
                    "run `interlock status` to see what the log says",
                ) from error
            raise
        return result

    async def _prepare(self, connection: Connection) -> None:
        version = await _version(connection)
        if version > SCHEMA:
            needs = (await rows(connection, "needs"))[0][0]
            raise newer_schema(f"at {self.where}", version, needs or "")
        if version < SCHEMA:
            before = await self._in_transaction(connection, _migrate)
            self.notice = migrated(f"at {self.where}", before) if 0 < before < SCHEMA else self.notice


async def rows(
    connection: Connection, name: str, arguments: Arguments | None = None
) -> list[tuple[Any, ...]]:
    """All rows that the named statement gives."""
    return await (await connection.execute(SQL[name], arguments)).fetchall()


async def _version(connection: Connection) -> int:
    """Return the schema version of the tables; 0 if there are none."""
    has_schema = (await rows(connection, "has_schema"))[0][0]
    return int((await rows(connection, "schema_version"))[0][0]) if has_schema else 0


async def _migrate(connection: Connection) -> int:
    """Migrate from one schema to the next; return the version found under the lock: another process may have
    migrated while this one waited."""
    await connection.execute(SQL["lock_schema"])
    before = await _version(connection)
    for version in range(before + 1, SCHEMA + 1):
        for step in steps_to(version, SQL):
            await connection.execute(step)
        await connection.execute(SQL["set_schema_version"].decode().format(version=version).encode())
    return before


class _Lost(psycopg.OperationalError):
    """The session is gone, and what it did was not committed."""

    def __init__(self, error: psycopg.Error) -> None:
        super().__init__(str(error))
        self.error = error


def _is_lost(error: psycopg.Error, connection: Connection) -> bool:
    """Return True if the session is gone. A server that ends it says so (57P.., or 25P03: idle too long)."""
    ended = (error.sqlstate or "").startswith(("08", "57P")) or error.sqlstate == "25P03"
    return ended or connection.closed
