"""What can happen to a log behind a connection: a server that is gone, sessions that are cut (I1)."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from interlock.events.record import GENESIS, chain
from interlock.model.errors import EnvironmentProblem, StoreUnavailable, UsageError
from interlock.store import Store, open_store
from interlock.store.postgres import PostgresStore
from tests.store.logs import GIVE_UP_SECONDS, HOUR, names, reset, whole_log

pytestmark = pytest.mark.postgres


def use(url: str, story: Callable[[Store], Awaitable[None]], project: str = "") -> None:
    """Open a log, by default a fresh one, tell the story, close it."""

    async def told() -> None:
        store = PostgresStore(url, project or str(uuid4()))
        try:
            async with asyncio.timeout(GIVE_UP_SECONDS):
                await story(store)
        finally:
            await store.close()

    asyncio.run(told())


async def ask(url: str, question: LiteralString) -> list[tuple[Any, ...]]:
    """Behind the store's back."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        answer = await connection.execute(question)
        return await answer.fetchall() if answer.description else []


def test_a_nul_that_postgres_cannot_store_is_told(postgres_url: str) -> None:
    async def story(store: Store) -> None:
        body = '{"task":"a","why":"\0"}'
        fact = {"seq": 1, "time": 5.0, "actor": "x", "kind": "TaskReset", "body": body}
        row = {**fact, "hash": chain(GENESIS, 1, 5.0, "x", "TaskReset", body)}

        async def lines() -> AsyncIterator[str]:
            yield json.dumps(row)

        with pytest.raises(EnvironmentProblem, match="Postgres cannot store this"):
            await store.restore(lines())

    use(postgres_url, story)


OTHERS: LiteralString = "FROM pg_stat_activity WHERE application_name = 'interlock'"


async def cut_every_session(url: str) -> None:
    await ask(url, "SELECT pg_terminate_backend(pid, 5000) " + OTHERS)


async def wait_until_listening(url: str) -> None:
    """Return when some session's last act was to LISTEN."""
    listening: LiteralString = "SELECT pid " + OTHERS + " AND state = 'idle' AND query LIKE 'LISTEN%'"
    while not await ask(url, listening):
        pass


def test_projects_in_one_database_know_nothing_of_each_other(postgres_url: str) -> None:
    async def story(one: Store) -> None:
        other = open_store(postgres_url, str(uuid4()))
        try:
            await one.append([reset("a"), reset("b")], "anna")
            await one.claim("r", "anna", 600, lambda _: [])
            await one.save_snapshot(1, b"mine")
            assert await other.head() == 0
            assert await other.held() == []
            assert await other.load_snapshot() is None
            assert await other.claim("r", "bert", 600, lambda _: []) is not None
            assert [row.seq for row in await other.append([reset("c")], "bert")] == [1]
            assert names(await whole_log(one)) == ["a", "b"]
        finally:
            await other.close()

    use(postgres_url, story)


@pytest.mark.slow
def test_many_that_open_a_new_database_at_once_all_succeed(postgres_url: str) -> None:
    async def race() -> None:
        await ask(postgres_url, "DROP DATABASE IF EXISTS fresh")
        await ask(postgres_url, "CREATE DATABASE fresh")
        stores = [open_store(with_database(postgres_url, "fresh"), "p") for _ in range(6)]
        try:
            await asyncio.gather(*(store.append([reset("a")], "anna") for store in stores))
            assert len(await whole_log(stores[0])) == 6
        finally:
            for store in stores:
                await store.close()

    asyncio.run(race())


def with_database(url: str, name: str) -> str:
    return url.replace("/postgres?", f"/{name}?")


def test_a_wait_is_ended_by_a_notification_and_not_by_looking(postgres_url: str) -> None:
    """While it can hear, `wait` looks at the log only at its beginning and when it was told to."""
    project = str(uuid4())

    async def story(store: Store) -> None:
        waiting = asyncio.create_task(store.wait(0, HOUR))
        await wait_until_listening(postgres_url)
        other = open_store(postgres_url, project)
        await other.append([reset("a")], "anna")
        await other.close()
        assert await waiting is True

    use(postgres_url, story, project)


def test_after_a_lost_connection_reading_and_writing_go_on(postgres_url: str) -> None:
    async def story(store: Store) -> None:
        await store.append([reset("a")], "anna")
        await cut_every_session(postgres_url)
        assert names(await whole_log(store)) == ["a"]
        await cut_every_session(postgres_url)
        await store.append([reset("b")], "anna")
        assert names(await whole_log(store)) == ["a", "b"]

    use(postgres_url, story)


@pytest.mark.slow
def test_a_wait_survives_a_lost_connection(postgres_url: str) -> None:
    project = str(uuid4())

    async def story(store: Store) -> None:
        waiting = asyncio.create_task(store.wait(0, HOUR))
        await wait_until_listening(postgres_url)
        await cut_every_session(postgres_url)
        other = open_store(postgres_url, project)
        await other.append([reset("a")], "anna")
        await other.close()
        assert await waiting is True

    use(postgres_url, story, project)


class Wire:
    """A wire to the server that is cut once, at the first question with a word: before it is delivered, or
    before the answer."""

    def __init__(self, url: str, word: bytes, delivers: bool) -> None:
        self.server = str(conninfo_to_dict(url)["host"])
        self.word = word
        self.delivers = delivers
        self.is_cut = False
        self.sessions: list[asyncio.Task[None]] = []

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sessions.append(asyncio.create_task(self.carry(reader, writer)))

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One session: both directions until either ends."""
        answers, questions = await asyncio.open_unix_connection(f"{self.server}/.s.PGSQL.5432")
        ways = [
            asyncio.create_task(self._ask(reader, questions)),
            asyncio.create_task(self._answer(answers, writer, was_cut=self.is_cut)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for end in (writer, questions):
            end.close()
            with suppress(OSError):
                await end.wait_closed()

    async def _ask(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while chunk := await source.read(65536):
            if self.word in chunk and not self.is_cut:
                self.is_cut = True
                if not self.delivers:
                    return
            sink.write(chunk)

    async def _answer(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, was_cut: bool) -> None:
        while chunk := await source.read(65536):
            if self.is_cut and not was_cut:
                return
            sink.write(chunk)


@pytest.mark.parametrize("delivered", [True, False], ids=["delivered", "undelivered"])
def test_a_commit_without_an_answer_is_reported_as_unknown(
    postgres_url: str, tmp_path: Path, delivered: bool
) -> None:
    """Protocol rule 4: the caller must look at the log, which has the fact in one case, in the other not."""
    wire = Wire(postgres_url, b"COMMIT\x00", delivered)

    async def story(direct: Store) -> None:
        await direct.append([reset("before")], "anna")
        async with await asyncio.start_unix_server(wire.connected, tmp_path / ".s.PGSQL.5432"):
            store = open_store(postgres_url.replace(wire.server, str(tmp_path)), project)
            try:
                with pytest.raises(StoreUnavailable, match="may have been made"):
                    await store.append([reset("unknown")], "anna")
                expected = ["before", "unknown"] if delivered else ["before"]
                assert names(await whole_log(store)) == names(await whole_log(direct)) == expected
                await store.append([reset("after")], "anna")
                assert names(await whole_log(direct)) == [*expected, "after"]
            finally:
                await store.close()
                await asyncio.gather(*wire.sessions)

    project = str(uuid4())
    use(postgres_url, story, project)


def test_a_session_that_is_cut_while_it_begins_is_begun_again(postgres_url: str, tmp_path: Path) -> None:
    wire = Wire(postgres_url, b"synchronous_commit", delivers=False)

    async def story(direct: Store) -> None:
        async with await asyncio.start_unix_server(wire.connected, tmp_path / ".s.PGSQL.5432"):
            store = open_store(postgres_url.replace(wire.server, str(tmp_path)), project)
            try:
                await store.append([reset("a")], "anna")
                assert wire.is_cut
                assert names(await whole_log(direct)) == ["a"]
            finally:
                await store.close()
                await asyncio.gather(*wire.sessions)

    project = str(uuid4())
    use(postgres_url, story, project)


def test_a_cancelled_write_leaves_no_lock_behind(postgres_url: str) -> None:
    project = str(uuid4())

    async def story(store: Store) -> None:
        other = open_store(postgres_url, project)
        try:
            for turns in range(40):
                writing = asyncio.create_task(store.append([reset("maybe")], "anna"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                writing.cancel()
                await asyncio.wait([writing])
                await other.append([reset("surely")], "bert")
            assert names(await whole_log(other)).count("surely") == 40
            assert await store.head() == await other.head()
        finally:
            await other.close()

    use(postgres_url, story, project)


def test_a_server_that_is_not_there_is_reported_with_its_address_and_without_the_password(
    tmp_path: Path,
) -> None:
    async def story(store: Store) -> None:
        for act in (store.head, lambda: store.append([reset("a")], "anna"), lambda: store.wait(0, 1)):
            with pytest.raises(StoreUnavailable) as raised:
                await act()
            assert str(tmp_path) in str(raised.value)
            assert "interlock doctor" in raised.value.hint
            assert "hunter2" not in str(raised.value) + raised.value.hint

    use(f"postgresql://anna:hunter2@/log?host={tmp_path}", story)


def test_an_address_that_makes_no_sense_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as raised:
        open_store("postgresql://anna:hunter2@host:port:1/x?nonsense=1", "p")
    assert "hunter2" not in str(raised.value)
    assert "postgresql://user@host" in raised.value.hint


def test_a_role_that_may_not_create_the_tables_is_told_what_is_needed(postgres_url: str) -> None:
    async def prepared() -> None:
        await ask(postgres_url, "DROP DATABASE IF EXISTS guarded")
        await ask(postgres_url, "CREATE DATABASE guarded")
        await ask(postgres_url, "DROP ROLE IF EXISTS guest")
        await ask(postgres_url, "CREATE ROLE guest LOGIN")

    async def story(store: Store) -> None:
        with pytest.raises(EnvironmentProblem, match="permission denied") as raised:
            await store.head()
        assert "GRANT CREATE ON DATABASE" in raised.value.hint

    asyncio.run(prepared())
    use(with_database(postgres_url, "guarded").replace("postgres:@", "guest@"), story)


def test_a_schema_of_a_newer_interlock_is_left_alone(postgres_url: str) -> None:
    async def prepared() -> None:
        await ask(postgres_url, "DROP DATABASE IF EXISTS newer")
        await ask(postgres_url, "CREATE DATABASE newer")
        await ask(with_database(postgres_url, "newer"), "CREATE SCHEMA interlock")
        await ask(
            with_database(postgres_url, "newer"), "CREATE TABLE interlock.version AS SELECT 99 AS version"
        )

    async def story(store: Store) -> None:
        with pytest.raises(EnvironmentProblem, match="needs a newer Interlock") as raised:
            await store.append([reset("no")], "anna")
        assert not raised.value.retryable

    asyncio.run(prepared())
    use(with_database(postgres_url, "newer"), story)
