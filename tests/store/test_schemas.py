"""Logs with the tables of an earlier or later release, on SQLite and on Postgres: the same for both (T2)."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import psycopg
import pytest

from interlock.model.errors import EnvironmentProblem
from interlock.model.task import TaskId
from interlock.store import Store, open_store
from interlock.store.statements import SCHEMA
from tests.store.conftest import ON_DISK
from tests.store.logs import Log, reset, whole_log
from tests.store.test_postgres_log import with_database

pytestmark = pytest.mark.contract

GOLDEN = Path(__file__).parents[1] / "golden/0.1.0"
FACTS = [json.loads(line) for line in (GOLDEN / "log.ndjson").read_text().splitlines()]
LINEAGE = (GOLDEN / "lineage").read_text()
PROJECT = "old"

Result = TypeVar("Result")


@dataclass(frozen=True)
class Old:
    """A log that the first release made."""

    url: str
    execute: Callable[[str], list[tuple[object, ...]]]
    """Do something behind the store's back."""

    def use(self, story: Callable[[Store], Awaitable[Result]]) -> tuple[Result, str]:
        """Open the log as a command does; the result of the story, and what a person is told."""

        async def told() -> tuple[Result, str]:
            store = open_store(self.url, PROJECT)
            try:
                await store.identify(LINEAGE)
                return await story(store), store.notice
            finally:
                await store.close()

        return asyncio.run(told())

    @property
    def is_postgres(self) -> bool:
        return "://" in self.url

    def set_schema(self, version: int) -> None:
        setting = "UPDATE interlock.version SET version" if self.is_postgres else "PRAGMA user_version"
        self.execute(f"{setting} = {version}")

    def statement(self, text: str, *values: str) -> str:
        """About the table that says which Interlock the schema needs."""
        return text.format("interlock.version" if self.is_postgres else "project", *values)


@pytest.fixture(params=ON_DISK)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Old:
    if request.param == "sqlite":
        path = tmp_path / "log.db"
        with closing(sqlite3.connect(path)) as db:
            db.executescript((GOLDEN / "log.sql").read_text())

        def execute(statement: str) -> list[tuple[object, ...]]:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                return db.execute(statement).fetchall()

        return Old(str(path), execute)
    return on_postgres(str(request.getfixturevalue("postgres_url")))


def on_postgres(server: str) -> Old:
    """The same log in a database of its own, as the tables are shared by all projects."""
    name = f"old_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    url = with_database(server, name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((GOLDEN / "postgres.sql").read_bytes())
        for fact in FACTS:
            columns = (PROJECT, *(fact[name] for name in ("seq", "time", "actor", "kind", "body", "hash")))
            connection.execute("INSERT INTO interlock.facts VALUES (%s, %s, %s, %s, %s, %s, %s)", columns)
        last = (PROJECT, FACTS[-1]["seq"], FACTS[-1]["hash"], FACTS[-1]["time"])
        connection.execute("INSERT INTO interlock.heads VALUES (%s, %s, %s, %s)", last)

    def execute(statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(url, autocommit=True) as connection:
            answer = connection.execute(statement.encode())
            return answer.fetchall() if answer.description else []

    return Old(url, execute)


def test_an_older_schema_is_brought_up_once_and_nothing_is_lost(old: Old) -> None:
    rows, notice = old.use(whole_log)
    assert [(row.seq, row.hash) for row in rows] == [(fact["seq"], fact["hash"]) for fact in FACTS]
    assert f"was migrated from schema 1 to {SCHEMA}" in notice
    (added,), notice = old.use(lambda store: store.append([reset("a")], "anna"))
    assert (added.seq, notice) == (len(FACTS) + 1, "")
    assert old.execute(old.statement("SELECT needs FROM {}")) == [("0.2.0",)]


def test_the_facts_of_an_older_log_are_found_by_task(old: Old) -> None:
    rows, _ = old.use(lambda store: store.about_task(TaskId("landed")))
    by_text = [fact["seq"] for fact in FACTS if json.loads(fact["body"]).get("task") == "landed"]
    assert [row.seq for row in rows[1:]] == by_text  # the first one is its definition
    assert rows[0].kind == "TaskAccepted"


def test_two_that_open_an_older_schema_at_once_bring_it_up_one_time(old: Old) -> None:
    async def both() -> list[str]:
        stores = [open_store(old.url, PROJECT) for _ in range(4)]
        try:
            await asyncio.gather(*(store.identify(LINEAGE) for store in stores))
            return [store.notice for store in stores if store.notice]
        finally:
            for store in stores:
                await store.close()

    assert len(asyncio.run(both())) == 1


def test_a_migration_that_fails_leaves_the_old_schema(old: Old) -> None:
    """Something is in its way already, with other columns."""
    old.execute(
        "ALTER TABLE interlock.version ADD COLUMN needs int"
        if old.is_postgres
        else "CREATE TABLE project (x)"
    )
    with pytest.raises((EnvironmentProblem, psycopg.Error)):
        old.use(whole_log)
    version = "SELECT version FROM interlock.version" if old.is_postgres else "PRAGMA user_version"
    assert old.execute(version) == [(1,)]


@pytest.mark.parametrize("needs", ["0.9.0", ""])
def test_a_newer_schema_is_refused_with_the_version_that_is_needed(old: Old, needs: str) -> None:
    old.use(whole_log)
    old.set_schema(SCHEMA + 1)
    old.execute(old.statement("UPDATE {} SET needs = '{}'", needs))
    with pytest.raises(EnvironmentProblem) as raised:
        old.use(whole_log)
    said = f"needs {f'Interlock {needs}' if needs else 'a newer Interlock'}: it has schema {SCHEMA + 1}, and"
    assert said in str(raised.value)
    assert not raised.value.retryable


def test_a_log_belongs_to_the_first_repository_that_says_so(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.identify("first-1")
        await two.identify("first-1")
        with pytest.raises(EnvironmentProblem, match=r"belongs to another repository \(first-1\)") as raised:
            await two.identify("second-2")
        assert "write `first-1` into the file `lineage`" in raised.value.hint

    log.play(story)
