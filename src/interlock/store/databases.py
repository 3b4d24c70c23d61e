"""Databases for attempts and checks: each is a copy of a template on a Postgres server of the user's.

1. A database is made with a role of its own, which owns it and may do nothing else on the server. The role of
   the address in the settings makes and drops both, and no program in a sandbox ever gets it.
2. The role carries a mark with the project and the process. What is dropped is a database that such a role
   owns and that has its name: no other was made here.
3. What a process left that is dead, the next one drops.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.store.statements import statements

SQL = statements("databases")
AT_ONCE = 4
"""Connections of ours at once: each copy takes two."""
TRIES = 20
"""A template that somebody is connected to cannot be copied: it is tried again for 5 s."""
PAUSE_SECONDS = 0.25
TLS = ("require", "verify-ca", "verify-full")

Connection = psycopg.AsyncConnection[tuple[Any, ...]]  # Any: rows are as wide as their statement says


@dataclass(frozen=True, slots=True)
class Database:
    """A database that was made for one program, and the role that owns it."""

    name: str
    """Of the database and of its role."""
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Server:
    """The place of a server: a host and a port, or a unix socket."""

    host: str
    port: int

    @property
    def socket(self) -> str:
        return f"{self.host}/.s.PGSQL.{self.port}" if self.host.startswith("/") else ""


class Databases:
    """Makes and drops databases for one process."""

    def __init__(self, url: str, project: str, holder: str, is_dead: Callable[[str], bool]) -> None:
        """`is_dead`: tells if the process of this name is known to have ended."""
        try:
            self._given = {
                key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None
            }
        except psycopg.Error as error:
            # The message of the library may quote the password, so it is not passed on.
            raise UsageError(
                "`database_server` cannot be read",
                "write it as postgresql://user:password@host:5432/postgres",
            ) from error
        if self._given.get("sslmode") in TLS:
            raise UsageError(
                "`database_server` asks for TLS, which forwarded connections do not have",
                "use a server on this machine or in a network that you trust",
            )
        host = self._given.get("hostaddr") or self._given.get("host") or "/var/run/postgresql"
        self.server = Server(host, int(self._given.get("port") or 5432))
        self._start = f"interlock {project} "
        self._holder = holder
        self._is_dead = is_dead
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._dropping: set[asyncio.Future[None]] = set()

    @asynccontextmanager
    async def lend(self, template: str) -> AsyncIterator[Database]:
        """Yield a copy of the template, which is dropped afterwards."""
        made = Database(f"interlock_{secrets.token_hex(8)}", secrets.token_urlsafe(24))
        try:
            await self._make(made, template)
            yield made
        finally:
            # It takes the server a second, which no attempt waits for.
            dropping = asyncio.ensure_future(self._drop(made.name))
            self._dropping.add(dropping)
            dropping.add_done_callback(self._dropping.discard)

    async def drop_left(self) -> list[str]:
        """Drop what processes of this project left that are dead; return the names."""
        holders = {name: mark.removeprefix(self._start) for name, mark, _ in await self._made()}
        left = [name for name, holder in holders.items() if self._is_dead(holder)]
        await asyncio.gather(*(self._drop(name) for name in left))
        return left

    async def close(self) -> None:
        """Wait until all is dropped that was lent. What cannot be dropped now, the next run drops."""
        await asyncio.gather(*self._dropping, return_exceptions=True)

    async def _made(self) -> list[tuple[str, str, bool]]:
        """The roles of this project, with their marks, and True if the database of that name is theirs."""
        async with self._turn, self._connected() as connection:
            found = await connection.execute(_text("left", start=sql.Literal(self._start)))
            return [(str(name), str(mark), bool(has)) for name, mark, has in await found.fetchall()]

    async def _make(self, made: Database, template: str) -> None:
        name, mark = sql.Identifier(made.name), sql.Literal(self._start + self._holder)
        async with self._turn:
            async with self._connected() as connection:
                async with connection.transaction():
                    password = sql.Literal(made.password)
                    await connection.execute(_text("create_role", name=name, password=password))
                    await connection.execute(_text("mark_role", name=name, mark=mark))
                    await connection.execute(_text("join_role", name=name))
                await _copy(connection, name, template)
                await connection.execute(_text("close_database", name=name))
            async with self._connected(made.name) as inside:
                await inside.execute(_text("hand_over", owner=sql.Literal(made.name)))

    async def _drop(self, name: str) -> None:
        """Drop a database, if it is one of ours, and its role."""
        owned = {found: has_database for found, _, has_database in await self._made()}
        async with self._turn, self._connected() as connection:
            if owned.get(name):
                await connection.execute(_text("drop_database", name=sql.Identifier(name)))
            if name in owned:
                await connection.execute(_text("drop_role", name=sql.Identifier(name)))

    @asynccontextmanager
    async def _connected(self, database: str = "") -> AsyncIterator[Connection]:
        more = {"connect_timeout": "10", "application_name": "interlock", "client_encoding": "utf8"}
        given = {**more, **self._given, **({"dbname": database} if database else {})}
        try:
            connection = await psycopg.AsyncConnection.connect(make_conninfo("", **given), autocommit=True)
            async with connection:
                yield connection
        except psycopg.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: psycopg.Error) -> EnvironmentProblem:
        text = str(error).strip().split("\n", maxsplit=1)[0]
        where = f"{self.server.host}:{self.server.port}"
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return EnvironmentProblem(
                f"the role of `database_server` may not make databases at {where}: {text}",
                "give it CREATEDB and CREATEROLE and the templates, or use a superuser",
            )
        return EnvironmentProblem(f"cannot make a database at {where}: {text}", "see `database_server`")


async def _copy(connection: Connection, name: sql.Identifier, template: str) -> None:
    copy = _text("create_database", name=name, template=sql.Identifier(template))
    for _ in range(TRIES - 1):
        try:
            await connection.execute(copy)
        except psycopg.errors.ObjectInUse:
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return
    await connection.execute(copy)


def _text(name: str, /, **values: sql.Composable) -> sql.Composed:
    return sql.SQL(SQL[name]).format(**values)
