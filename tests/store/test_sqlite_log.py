"""What can happen to a log that is a file: tampering, a full disk, files of other programs (W10)."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from interlock.events.facts import Paused
from interlock.events.record import Recorded, verify_chain
from interlock.model.errors import BrokenChain, EnvironmentProblem, StaleEpoch, StoreUnavailable
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_file import SQL, SqliteFile
from tests.run.tree import linux, until
from tests.store.logs import names, reset, whole_log

Result = TypeVar("Result")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system of its own")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def use(path: Path, story: Callable[[SqliteStore], Awaitable[Result]]) -> Result:
    """Open the log, tell the story, close it."""

    async def told() -> Result:
        store = SqliteStore(str(path))
        try:
            return await story(store)
        finally:
            await store.close()

    return asyncio.run(told())


def fill(path: Path, facts: int = 5) -> list[Recorded]:
    return use(path, lambda store: store.append([reset(f"t{n}") for n in range(1, facts + 1)], "anna"))


def sql(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """Behind the store's back."""
    with closing(sqlite3.connect(path)) as db, db:
        return [row for statement in statements for row in db.execute(statement).fetchall()]


def problem(path: Path, story: Callable[[SqliteStore], Awaitable[object]]) -> EnvironmentProblem:
    """The error that a person would see: it names the file and says what to do."""
    with pytest.raises(EnvironmentProblem) as raised:
        use(path, story)
    assert str(path) in str(raised.value)
    assert raised.value.hint
    assert raised.value.exit_code == 7
    return raised.value


# Tampering


@pytest.mark.parametrize(
    ("tampering", "named"),
    [
        (["UPDATE facts SET body = replace(body, 't3', 't9') WHERE seq = 3"], "fact 3"),
        (["UPDATE facts SET time = time - 60 WHERE seq = 3"], "fact 3"),
        (["UPDATE facts SET actor = 'bert' WHERE seq = 3"], "fact 3"),
        (["UPDATE facts SET kind = 'TaskCancelled' WHERE seq = 3"], "fact 3"),
        (["UPDATE facts SET hash = lower(hex(randomblob(32))) WHERE seq = 3"], "fact 3"),
        (["DELETE FROM facts WHERE seq = 3"], "fact 3"),
        (["DELETE FROM facts WHERE seq = 1"], "fact 1"),
        (["DELETE FROM facts WHERE seq = 3", "UPDATE facts SET seq = seq - 1 WHERE seq > 3"], "fact 3"),
        (
            [
                "UPDATE facts SET seq = -2 WHERE seq = 2",
                "UPDATE facts SET seq = 2 WHERE seq = 3",
                "UPDATE facts SET seq = 3 WHERE seq = -2",
            ],
            "fact 2",
        ),
    ],
    ids=["body", "time", "actor", "kind", "hash", "deleted", "first", "deleted-and-closed-up", "swapped"],
)
def test_a_fact_that_was_changed_behind_our_back_is_named(
    path: Path, tampering: list[str], named: str
) -> None:
    fill(path)
    sql(path, *tampering)
    rows = use(path, lambda store: store.read(0))
    with pytest.raises(BrokenChain, match=rf"^the log is broken: {named}\b"):
        verify_chain(rows)


# Files that are not ours to use


def test_a_log_of_a_newer_interlock_is_left_alone(path: Path) -> None:
    fill(path)
    sql(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    error = problem(path, lambda store: store.append([reset("no")], "anna"))
    assert "it has schema 99, and" in str(error)
    assert not error.retryable
    assert path.read_bytes() == before


def test_another_programs_database_is_left_alone(path: Path) -> None:
    sql(path, "CREATE TABLE theirs (x)")
    before = path.read_bytes()
    assert "not a log of Interlock" in str(problem(path, lambda store: store.head()))
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    path.write_text("My notes, which happen to be here.\n" * 50)
    before = path.read_bytes()
    assert "not a log of Interlock" in str(problem(path, lambda store: store.head()))
    assert path.read_bytes() == before


def test_a_damaged_file_is_reported_as_damaged(path: Path) -> None:
    fill(path, 200)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    assert "damaged" in str(problem(path, lambda store: store.read(0)))


def test_a_folder_that_is_missing_is_reported_with_the_command_that_makes_it(tmp_path: Path) -> None:
    error = problem(tmp_path / "no where" / "log.db", lambda store: store.head())
    assert isinstance(error, StoreUnavailable)
    assert f"mkdir -p '{tmp_path}/no where'" in error.hint


def test_a_folder_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    assert isinstance(problem(tmp_path, lambda store: store.head()), StoreUnavailable)


# Other processes


@pytest.mark.slow
def test_a_lock_that_is_let_go_is_waited_for_without_stopping_the_loop(path: Path) -> None:
    fill(path, 1)

    async def story(store: SqliteStore) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(store.append([reset("waited")], "anna"))
            # Reads go on, and so does everything else in this loop.
            for _ in range(3):
                assert await store.wait(1, 0.02) is False
            assert not writing.done()
            other.execute("ROLLBACK")
            await writing
        assert names(await whole_log(store)) == ["t1", "waited"]

    use(path, story)


HOLDER = """
import sqlite3, sys
log = sqlite3.connect(sys.argv[1], isolation_level=None)
log.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@linux
@pytest.mark.slow
def test_a_lock_that_is_not_let_go_is_reported_with_who_has_it_and_what_wakes_it(path: Path) -> None:
    fill(path, 1)
    argv = [sys.executable, "-c", HOLDER, str(path)]

    def told() -> EnvironmentProblem:
        async def story() -> None:
            store = SqliteStore(str(path), lock_seconds=0.0)
            try:
                await store.append([reset("refused")], "anna")
            finally:
                await store.close()

        with pytest.raises(StoreUnavailable) as raised:
            asyncio.run(story())
        return raised.value

    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        assert f"locked by process {holder.pid} ({sys.executable} -c import sqlite3" in str(told())
        assert told().hint.startswith(f"wait until that process is done, or `kill {holder.pid}`")
        psutil.Process(holder.pid).suspend()
        until(lambda: psutil.Process(holder.pid).status() == psutil.STATUS_STOPPED)
        assert told().hint.startswith(f"that process is stopped: `kill -CONT {holder.pid}`")
        holder.kill()


def test_the_log_is_in_wal_mode_and_syncs_fully(path: Path) -> None:
    file = SqliteFile(str(path))
    try:
        journal, full = "PRAGMA journal_mode", "PRAGMA synchronous"
        assert asyncio.run(file.run(lambda db: db.execute(journal).fetchall())) == [("wal",)]
        assert asyncio.run(file.run(lambda db: db.execute(full).fetchall())) == [(2,)]
    finally:
        asyncio.run(file.close())


# The disk


@contextmanager
def mounted(where: Path, *words: str) -> Iterator[None]:
    where.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *words, str(where)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not permitted here: {done.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(where)], check=True)


@needs_root
def test_a_full_disk_stops_writing_loses_nothing_and_heals_when_there_is_space(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    path = disk / "log.db"

    async def story(store: SqliteStore) -> None:
        acknowledged: list[Recorded] = []
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 200_000)
        with pytest.raises(StoreUnavailable, match="full") as raised:
            while True:
                acknowledged += await store.append([reset("t", "x" * 500) for _ in range(20)], "anna")
        assert "space" in raised.value.hint
        assert acknowledged
        with pytest.raises(StoreUnavailable, match="full"):
            await store.claim("r", "anna", 600, lambda _: [reset("t", "x" * 50_000)])
        assert await store.held() == []
        assert await whole_log(store) == acknowledged
        ballast.unlink()
        acknowledged += await store.append([reset("again")], "anna")
        assert await whole_log(store) == acknowledged

    with mounted(disk, "-t", "tmpfs", "-o", "size=768k", "tmpfs"):
        use(path, story)
        assert sql(path, "PRAGMA integrity_check") == [("ok",)]


@needs_root
def test_a_folder_that_cannot_be_written_is_reported_and_the_log_stays_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    path = folder / "log.db"
    rows = fill(path)
    with mounted(folder, "--bind", "-o", "ro", str(folder)):
        error = problem(path, lambda store: store.append([reset("no")], "anna"))
        assert isinstance(error, StoreUnavailable)
    assert use(path, whole_log) == rows


def test_a_log_that_was_deleted_under_a_running_loop_is_noticed_at_the_next_use(tmp_path: Path) -> None:
    """Otherwise the loop would go on for ever in a file that nobody can find any more."""

    async def go_on_without_the_file() -> None:
        store = SqliteStore(str(tmp_path / "log.db"))
        await store.append([Paused()], "me")
        (tmp_path / "log.db").unlink()
        try:
            with pytest.raises(EnvironmentProblem, match="deleted or replaced"):
                await store.append([Paused()], "me")
        finally:
            await store.close()

    asyncio.run(go_on_without_the_file())


def test_what_is_written_at_the_same_moment_is_one_transaction_and_each_hears_of_its_own(path: Path) -> None:
    """Thirty agents that end together wait for the disk once."""
    seen: list[object] = []

    async def story(store: SqliteStore) -> list[list[Recorded]]:
        async def write(name: str) -> list[Recorded]:
            rows = await store.append([reset(name), reset(f"{name}-too")], "anna")
            seen.extend(sql(path, "select count(*) from facts"))
            return rows

        return await asyncio.gather(*(write(f"t{number}") for number in range(30)))

    written = use(path, story)
    assert [row.seq for rows in written for row in rows] == list(range(1, 61))
    assert seen == [(60,)] * 30
    verify_chain(use(path, lambda store: store.read(0)))


def test_one_that_is_refused_does_not_take_the_others_with_it(path: Path) -> None:
    done: list[str] = []

    async def story() -> list[object]:
        file = SqliteFile(str(path))

        def claiming(name: str) -> Callable[[sqlite3.Connection], str]:
            def work(db: sqlite3.Connection) -> str:
                done.append(name)
                if name == "refused":
                    raise StaleEpoch("somebody else has it")
                wish = {
                    "resource": name,
                    "holder": "anna",
                    "generation": 0,
                    "lease_seconds": 9,
                    "takeover": None,
                }
                db.execute(SQL["claim"], wish).fetchall()
                return name

            return work

        asked = map(claiming, ("a", "refused", "b"))
        told = await asyncio.gather(*map(file.transaction, asked), return_exceptions=True)
        await file.close()
        return [*map(str, told)]

    assert asyncio.run(story()) == ["a", "somebody else has it", "b"]
    # Together at first; and then, because of the one, each by itself.
    assert done == ["a", "refused", "a", "refused", "b"]
    assert sql(path, "select resource from claims order by resource") == [("a",), ("b",)]


def test_what_was_asked_for_is_written_even_if_nobody_waits_for_it_any_more(path: Path) -> None:
    async def story(store: SqliteStore) -> list[str]:
        asking = asyncio.create_task(store.append([reset("a")], "anna"))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        await store.append([reset("b")], "anna")
        return names(await store.read(0))

    assert use(path, story) == ["a", "b"]


def test_closing_waits_for_what_was_asked_for_and_leaves_no_file_open(path: Path) -> None:
    fill(path, 1)

    async def story() -> None:
        store = SqliteStore(str(path))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            asking = asyncio.create_task(store.append([reset("late")], "anna"))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
            closed = asyncio.create_task(store.close())
            await asyncio.sleep(0)
            other.execute("ROLLBACK")
            await closed

    asyncio.run(story())
    assert [link for link in open_files() if link.startswith(str(path))] == []
    assert names(use(path, whole_log)) == ["t1", "late"]


@pytest.mark.slow
def test_closing_does_not_wait_for_a_lock_that_is_not_let_go(path: Path) -> None:
    fill(path, 1)

    async def story() -> None:
        store = SqliteStore(str(path))
        asking = asyncio.create_task(store.append([reset("never")], "anna"))
        await asyncio.sleep(0)
        await store.close()
        await asyncio.wait([asking])
        assert asking.cancelled()

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        asyncio.run(story())
    assert [link for link in open_files() if link.startswith(str(path))] == []
    assert names(use(path, whole_log)) == ["t1"]


def open_files() -> Iterator[str]:
    folder = Path("/proc/self/fd")
    for link in folder.iterdir() if folder.is_dir() else ():
        with suppress(OSError):  # it was the look's own
            yield str(link.readlink())


def test_whoever_waits_to_write_when_the_loop_ends_is_not_left_waiting(path: Path) -> None:
    fill(path, 1)

    async def story(store: SqliteStore) -> list[bool]:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            first = asyncio.create_task(store.append([reset("a")], "anna"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            (writer,) = asyncio.all_tasks() - {first, asyncio.current_task()}
            second = asyncio.create_task(store.append([reset("b")], "anna"))
            await asyncio.sleep(0)
            writer.cancel()
            await asyncio.wait([first, second], timeout=10)
            return [first.cancelled(), second.cancelled()]

    assert use(path, story) == [True, True]


def test_a_new_log_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    async def story() -> None:
        store = SqliteStore(str(tmp_path / "log.db"))
        await store.append([reset("a")], "anna")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        await store.close()
        assert modes == dict.fromkeys(["log.db", "log.db-wal", "log.db-shm"], 0o600)

    before = os.umask(0)
    try:
        asyncio.run(story())
    finally:
        os.umask(before)
