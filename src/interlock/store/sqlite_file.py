"""One SQLite file: opened when it is first needed, one transaction at a time, its errors in plain words.

1. No await happens inside a transaction, so within a process transactions never mix.
2. Writes that come together wait for the disk once, as one transaction. Each caller gets its result
   when it is on the disk. If any of it fails, each is done by itself, so that no caller gets another's error.
3. A write is carried out even if its caller no longer waits for it.
4. Waiting for another process's lock gives the event loop back: a process that was stopped while it held the
   lock must not stop ours.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from interlock.events.record import broken
from interlock.model.errors import BrokenChain, EnvironmentProblem, StoreUnavailable
from interlock.model.shown import shown
from interlock.store.disk_room import allocate_index, has_room
from interlock.store.problems import lasting, migrated, newer_schema
from interlock.store.statements import SCHEMA, statements, steps_to

SQL = statements("sqlite")
OLDEST_SQLITE = (3, 37, 0)
"""STRICT tables; RETURNING came two versions earlier."""

INLINE_LOCK_SECONDS = 0.05
"""A commit takes less than a millisecond, so most locks are gone within this."""
LOCK_SECONDS = 10.0
CLOSE_SECONDS = 2.0
RETRY_SECONDS = 0.02
IN_MEMORY = ":memory:"
SHOWN_CHARACTERS = 80
"""Of the command that holds a lock."""

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]


class SqliteFile:
    """Runs work on the file and waits for its lock. After `close` the next use opens it again."""

    def __init__(self, path: str, lock_seconds: float = LOCK_SECONDS) -> None:
        """`lock_seconds`: how long another process's lock is waited for."""
        self.path = path
        self._lock_seconds = lock_seconds
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        """Device and inode of the open file: the path may come to name another one."""
        self.notice = ""
        self._asked: list[tuple[Work[Any], asyncio.Future[Any]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def run(self, work: Work[Result]) -> Result:
        """Do `work`; repeat it while another process holds the lock."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._lock_seconds
        while True:
            try:
                if self._connection is None:
                    self._connection, before = _open(self.path)
                    self.notice = migrated(self.path, before) if 0 < before < SCHEMA else self.notice
                    self._file = _identity(self.path)
                if _identity(self.path) != self._file:
                    raise lasting(
                        f"{self.path} was deleted or replaced while it was in use",
                        "what had landed is on the branch; start again with `interlock run`",
                    )
                return work(self._connection)
            except sqlite3.DatabaseError as error:
                if self._connection and _is_undecodable(error):
                    raise _damaged_text(self._connection, self.path) from error
                if not _is_busy(error) or loop.time() >= deadline:
                    raise _explain(error, self.path) from error
            await asyncio.sleep(RETRY_SECONDS)

    # The rows are as wide as their statement says; SQLite gives them no types.
    async def rows(self, name: str, arguments: Sequence[int | str] = ()) -> list[Any]:
        """All rows that the named statement gives."""
        return await self.run(lambda db: db.execute(SQL[name], arguments).fetchall())

    async def transaction(self, work: Work[Result]) -> Result:
        """Do `work` while holding the write lock: all of it is committed, or none. It is done again if the
        first transaction fails."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        done.add_done_callback(_heard)
        self._asked.append((work, done))
        if self._writer is None or self._writer.done():
            self._writer = loop.create_task(self._write())
            self._writer.add_done_callback(self._over)
        return await asyncio.shield(done)

    async def apart(self, work: Work[object]) -> None:
        """Do `work` as a transaction in a thread, on a connection of its own; what is in memory has only the
        one that is open."""
        await self.run(lambda _db: None)  # the file is there, and the same as before
        if self.path == IN_MEMORY:
            await self.transaction(work)
        else:
            self._check_room()
            await asyncio.to_thread(self._apart, work)

    def _apart(self, work: Work[object]) -> None:
        try:
            where = f"{Path(self.path).absolute().as_uri()}?mode=rw"  # a file that is gone stays away
            with closing(
                sqlite3.connect(where, timeout=self._lock_seconds, isolation_level=None, uri=True)
            ) as db:
                _in_transaction(db, work)
        except sqlite3.DatabaseError as error:
            raise _explain(error, self.path) from error

    async def _write(self) -> None:
        while self._asked:
            together = [one for one in self._asked if not one[1].get_loop().is_closed()]
            self._asked = []
            try:
                if not await self._done(together):
                    for one in together:
                        await self._done([one])
            finally:
                _leave(together)

    def _over(self, writer: asyncio.Task[None]) -> None:
        """Cancel the requests that are left when the event loop ends: they have no writer any more."""
        if writer is self._writer:
            _leave(self._asked)
            self._asked = []

    # Any: each work has a result of its own type, and its own future takes that.
    async def _done(self, together: list[tuple[Work[Any], asyncio.Future[Any]]]) -> bool:
        """Write them in one transaction; False if they have to be tried one by one."""
        try:
            self._check_room()
            results = await self.run(
                lambda db: _in_transaction(db, lambda db: [work(db) for work, _ in together])
            )
        except Exception as problem:  # noqa: BLE001 - the caller gets it and decides
            if len(together) > 1 and not isinstance(problem, StoreUnavailable):
                return False
            for _, done in together:
                done.set_exception(problem)
            return True
        for (_, done), result in zip(together, results, strict=True):
            done.set_result(result)
        return True

    def _check_room(self) -> None:
        if self.path != IN_MEMORY and not has_room(self.path):
            raise _full(self.path)

    async def close(self) -> None:
        """Let go of the file, when all that was asked for is written: that would open it again. A lock is not
        waited for as long as otherwise: a person may want to leave."""
        if self._writer and not self._writer.done():
            await asyncio.wait([self._writer], timeout=CLOSE_SECONDS)
            self._writer.cancel()
            await asyncio.wait([self._writer])
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _leave(asked: list[tuple[Work[Any], asyncio.Future[Any]]]) -> None:
    """Cancel these requests, so that no caller waits for a write that will not happen."""
    for _, done in asked:
        done.cancel()


def _heard(done: asyncio.Future[Any]) -> None:
    """Fetch the error, so that asyncio does not complain about one that no caller waits for."""
    if not done.cancelled():
        done.exception()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - asked for each read and write, and a Path takes longer than this
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _in_transaction(db: sqlite3.Connection, work: Work[Result]) -> Result:
    db.execute(SQL["begin"])
    try:
        result = work(db)
        db.commit()
    except BaseException:
        # After some errors SQLite has rolled back by itself; a second failure here must not hide the first.
        with suppress(sqlite3.Error):
            db.rollback()
        raise
    return result


def _open(path: str) -> tuple[sqlite3.Connection, int]:
    """The file, with today's tables, and the schema that it had before; 0: it was new."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise lasting(
            f"this Python comes with SQLite {sqlite3.sqlite_version}, which is too old",
            "use a Python built with SQLite 3.37 or newer, or put the log into Postgres",
        )
    if path != IN_MEMORY and not Path(f"{path}-shm").exists() and not has_room(path):
        raise _full(path)
    _create_private(path)
    db = sqlite3.connect(path, timeout=INLINE_LOCK_SECONDS, isolation_level=None)
    try:
        return db, _prepare(db, path)
    except BaseException:
        db.close()
        raise


def _create_private(path: str) -> None:
    """Make a new file for its owner alone, at any umask; SQLite gives the files beside it its mode.

    A file that exists is left alone: to open and close it here would drop the locks of this process on it.
    """
    if path != IN_MEMORY:
        with suppress(OSError):  # SQLite says better why it cannot be made
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _prepare(db: sqlite3.Connection, path: str) -> int:
    """Look before touching: a file that is not ours, or is newer than we are, stays as it is."""
    version = _version(db)
    if version > SCHEMA:
        raise newer_schema(path, version, _needs(db))
    if version < SCHEMA:
        version = _in_transaction(db, lambda db: _migrate(db, path))
    for setting in ("use_wal", "use_full_sync", "use_full_fsync"):
        db.execute(SQL[setting]).fetchall()
    _version(db)  # with the first read SQLite makes the file `-shm`
    if path != IN_MEMORY and not allocate_index(path):
        raise _full(path)
    return version


def _migrate(db: sqlite3.Connection, path: str) -> int:
    """Migrate from one schema to the next; return the version found under the lock: another process may have
    migrated while this one waited."""
    before = _version(db)
    if before == 0 and db.execute(SQL["count_tables"]).fetchone()[0]:
        raise _not_a_log(path, "it is another program's database")
    for version in range(before + 1, SCHEMA + 1):
        for step in steps_to(version, SQL):
            db.execute(step)
        db.execute(SQL["set_schema_version"].format(version=version))
    return before


def _needs(db: sqlite3.Connection) -> str:
    try:
        return str(db.execute(SQL["needs"]).fetchone()[0])
    except (sqlite3.DatabaseError, TypeError):
        return ""  # a schema that does not say


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute(SQL["schema_version"]).fetchone()[0])


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.DatabaseError) -> int | None:
    """SQLite's primary result code; None if the error came from Python's side."""
    extended: int | None = getattr(error, "sqlite_errorcode", None)
    return None if extended is None else extended & 0xFF


def _is_undecodable(error: sqlite3.DatabaseError) -> bool:
    """Return True for a text that is not UTF-8. The error is Python's own, and has only its message."""
    return _code(error) is None and "decode to UTF-8" in str(error)


def raw_rows(db: sqlite3.Connection, name: str, arguments: Sequence[int]) -> list[Any]:
    """All rows that the named statement gives, with each text as its bytes."""
    db.text_factory = bytes
    try:
        return db.execute(SQL[name], arguments).fetchall()
    finally:
        db.text_factory = str


def _damaged_text(db: sqlite3.Connection, path: str) -> Exception:
    """Name the first fact with a text that is not UTF-8; if there is none, another table has the text."""
    try:
        rows = raw_rows(db, "read", (0, -1))
    except sqlite3.DatabaseError as error:  # a page is damaged too
        return _explain(error, path)
    for row in rows:
        if any(isinstance(cell, bytes) and not _is_utf8(cell) for cell in row):
            return broken(row[0], "has a text that is not UTF-8")
    return BrokenChain(
        f"the log {path} is damaged: a text is not UTF-8, and no fact has it",
        "`interlock events --export all`, move the log away, `interlock events --import all`",
    )


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _explain(error: sqlite3.DatabaseError, path: str) -> Exception:
    """Turn an error into one that says what a person can do. Our own mistakes are returned unchanged."""
    code = _code(error)
    if code is None or isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return error
    if code == sqlite3.SQLITE_CORRUPT:
        return lasting(
            f"the log {path} is damaged: {error}",
            "keep a copy of the file, move it away, and restore the last export",
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        return _not_a_log(path, str(error))
    what, hint = _PASSING.get(code, ("cannot be used now", "run `interlock doctor` to see what is wrong"))
    if _is_busy(error):
        what, hint = _locked(path)
    if code == sqlite3.SQLITE_CANTOPEN and not Path(path).parent.is_dir():
        hint = f"its folder does not exist: run `mkdir -p '{Path(path).parent}'`, then the same command again"
    return StoreUnavailable(f"the log {path} {what}: {error}", hint)


def _full(path: str) -> StoreUnavailable:
    what, hint = _PASSING[sqlite3.SQLITE_FULL]
    return StoreUnavailable(f"the log {path} {what}", hint)


def _locked(path: str) -> tuple[str, str]:
    """Name the process that holds the lock, and say how to end it."""
    import psutil  # noqa: PLC0415 - slow to import, and only this message needs it

    again = "then run the same command again"
    unknown = "is locked by another process", f"wait until that process is done, or end it, {again}"
    if not (pid := _holder_of(path)):
        return unknown
    try:
        process = psutil.Process(pid)
        command, status = process.cmdline(), process.status()
    except psutil.Error:
        return unknown
    what = f"is locked by process {pid} ({shown(' '.join(command), SHOWN_CHARACTERS)})"
    if status in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
        return what, f"that process is stopped: `kill -CONT {pid}` continues it, {again}"
    return what, f"wait until that process is done, or `kill {pid}`, {again}"


def _holder_of(path: str) -> int:
    """The process that holds the write lock of the file, as far as the kernel tells; 0: that is unknown."""
    # The file beside the log holds its locks while it is in use.
    files = {str(found[1]) for name in (path, f"{path}-shm") if (found := _identity(name))}
    try:
        lines = Path("/proc/locks").read_text(errors="replace").splitlines()
    except OSError:
        return 0
    for line in lines:
        words = line.split()  # 4: POSIX ADVISORY WRITE 25937 fe:00:4884330 120 120
        if len(words) == 8 and words[3] == "WRITE" and words[5].rpartition(":")[2] in files:
            pid = int(words[4])
            if pid > 0 and pid != os.getpid():
                return pid
    return 0


_PASSING = {
    sqlite3.SQLITE_FULL: (
        "cannot be written, the disk is full",
        "free some space (`interlock gc` removes old workspaces), then run the same command again",
    ),
    sqlite3.SQLITE_READONLY: (
        "is read-only",
        "make the file and its folder writable for you, then run the same command again",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "make sure that its folder can be written, then run `interlock doctor`",
    ),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written",
        "check the disk (full or failing?) with `interlock doctor`, then run the same command again",
    ),
}
"""Errors that pass: what the message says about the log, and what to do."""


def _not_a_log(path: str, why: str) -> EnvironmentProblem:
    return lasting(f"{path} is not a log of Interlock: {why}", "move the file away, or name another one")
