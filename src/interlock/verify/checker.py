"""Runs checks on this machine: each command in a clean checkout, one after the other; keeps the output."""

import asyncio
import contextlib
import fcntl
import os
import tempfile
import uuid
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakValueDictionary

from interlock.git.files import is_full
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import CheckResult
from interlock.model.process import Command, Ended, Exit, Processes, inherit
from interlock.model.sandbox import ForwardedPort
from interlock.model.suite import Unable
from interlock.verify.breaking import SAID
from interlock.verify.edits import contents, edited
from interlock.verify.protocol import Beside, CheckOrder, Room, Rooms, RunningCheck
from interlock.verify.report_files import watch
from interlock.verify.reports import Filed, accounted, combined, read_report, read_totals
from interlock.verify.services import with_services
from interlock.verify.unable import unable

REPORT_BYTES = 16 << 20
"""The part at the end of a check's output that is searched for its report."""
REPORTING = {"PYTEST_ADDOPTS": "-rfEp", "GOFLAGS": "-v"}
"""Added to what the person has there: the programs then also name the tests that passed. Of pytest's ways to
report this one needs no file, and reaches it through make and scripts."""
NAMES_A_PASS = ("PASSED ", "=== RUN ", "=== PAUSE ", "=== CONT ", "--- PASS: ", "    --- PASS: ")
"""Lines that are there because of REPORTING. pytest prints them last, after all that failed."""
TAIL_LINES, TAIL_CHARS = 100, 8_000
TIMED_OUT = 124
"""The exit status of `timeout`, which people know."""


class LocalChecker:
    """Runs checks on this machine, contained and limited as agents are."""

    def __init__(
        self,
        rooms: Rooms,
        processes: Processes,
        state_dir: Path,
        pass_env: tuple[str, ...] = (),
        at_once: int = 1,
        beside: Beside | None = None,
    ) -> None:
        """`at_once`: how many orders may be carried out at the same time."""
        self._beside = beside or Beside()
        self._rooms = rooms
        self._processes = processes
        self._state_dir = state_dir
        self._pass_env = pass_env
        self._folders = Folders(state_dir / "check")
        self._turn = asyncio.Semaphore(at_once)
        self._moving_in = asyncio.Lock()
        self._named: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Orders of one name write into the same evidence, so they run one after the other."""
        self._running: dict[Hashable, RunningCheck] = {}
        """Checks that run, by the key of their command."""

    async def check(self, order: CheckOrder) -> Sequence[CheckResult]:
        name = f"check {order.name} {uuid.uuid4().hex}"
        alone = self._named.setdefault(order.name, asyncio.Lock())
        async with alone, self._turn:
            return await self._check(order, name)

    def running(self) -> Sequence[RunningCheck]:
        return tuple(self._running.values())

    async def _check(self, order: CheckOrder, name: str) -> Sequence[CheckResult]:
        self._lease_left(order)  # the controller in charge by now must not lose its check to a late one
        async with self._moving_in:
            for folder in self._folders.others():
                await self._processes.end_survivors(str(note(folder)))
                with abandoned(folder) as is_dead:
                    if is_dead:
                        await self._rooms.clear(folder)
        prepare = self._beside.prepare
        if order.needs_setup and prepare and (failed := await prepare(order.tree)):
            return [_unprepared(command, failed) for command in order.commands]
        return [
            await self._alone(order, command, number, name)
            for number, command in enumerate(order.commands, start=1)
        ]

    async def _alone(self, order: CheckOrder, command: str, number: int, name: str) -> CheckResult:
        """Run one command in a room of its own: an earlier one cannot have prepared anything for it."""
        with self._folders.fresh() as folder:
            try:
                inputs = order.inputs.get(command, ())
                room = await self._rooms.check_out(order.tree, folder, inputs=inputs)
                layers = _layers(room)
                written = layers[0]
                before = await asyncio.to_thread(contents, layers, order.changed)
                noted = notes_accesses(folder, copies_read=written != room.path)  # see `seccomp`
                marked = mark_unread(written, order.watched) if noted else ()
                reports = await asyncio.to_thread(watch, room, folder / "began")
                async with self._beside.lend(order.env) as lent:
                    own = {"COMPOSE_PROJECT_NAME": f"interlock-check-{folder.name[:12]}"}
                    ready = self._command(order, name, room, folder, lent.forwarded_ports)
                    ready = replace(ready, env={**own, **order.env, **lent.env})
                    ran = await self._run(order, command, number, ready)
                unread = still_unread(written, marked)
                filed = await asyncio.to_thread(reports.read)
                result = await asyncio.to_thread(_result, command, ran, filed)
                result = replace(result, watched=len(marked), unread=unread, usual_seconds=ran.usual_seconds)
                if order.names_read:
                    result = replace(result, read=tuple(path for path in marked if path not in unread))
                if not result.passed:  # then it is told why, and not what else it did
                    if await asyncio.to_thread(is_full, folder):
                        raise EnvironmentProblem(f"the disk is full: `{command}` {result.how}")
                    return result
                if order.collect:
                    await asyncio.to_thread(order.collect, written)
                return replace(result, edited=await asyncio.to_thread(edited, written, before))
            finally:
                await self._rooms.clear(folder)  # to the end, before the lock of the folder is given back

    def _lease_left(self, order: CheckOrder) -> float:
        return self._processes.lease.left(f"the check {order.name}") if order.leased else 0.0

    def _command(
        self, order: CheckOrder, name: str, room: Room, folder: Path, ports: tuple[ForwardedPort, ...]
    ) -> Command:
        """A command that is still to be named."""
        ports = (*order.forwarded_ports, *ports)
        grant = replace(room.grant, forwarded_ports=ports) if room.grant else None
        return Command(
            argv=(),
            directory=str(room.path),
            log="",
            lease_seconds=self._lease_left(order),
            key=name,
            pid_file=str(note(folder)),
            grant=grant,
            grace=False,  # it has nothing to save
        )

    async def _run(self, order: CheckOrder, command: str, number: int, how: Command) -> "_Ran":
        log = f"evidence/{order.name}/{number}.log"
        path = self._state_dir / log
        began = _begin(path, f"# interlock: tree {order.tree}: {command}\n")
        pace = order.pace.get(command)
        limits = (order.timeout_seconds, pace.limit_seconds if pace else 0.0)
        now = asyncio.get_running_loop().time()
        with self._shown(how.key, RunningCheck(order.name, order.task, command, now, pace)):
            exited = await self._processes.run(
                replace(
                    how,
                    argv=with_services(command, self._beside.services(), order.env),
                    log=str(path),
                    env={**_reporting(inherit(os.environ, self._pass_env)), **how.env},
                    timeout_seconds=min(filter(None, limits), default=0.0),
                )
            )
        if exited.ended is Ended.LEASE:
            raise EnvironmentProblem(f"the check {order.name} was stopped: its lease was not renewed in time")
        hung = exited.ended is Ended.TIMEOUT and exited.seconds < order.timeout_seconds
        output = await asyncio.to_thread(_written, path, began)
        return _Ran(exited, log, output, pace.usual_seconds if pace and hung else 0.0)

    @contextlib.contextmanager
    def _shown(self, key: Hashable, check: RunningCheck) -> Iterator[None]:
        """Let others see that it runs."""
        self._running[key] = check
        try:
            yield
        finally:
            del self._running[key]


def _layers(room: Room) -> list[Path]:
    """Return the folder that gets the files of a change, and those below it: a copy of the tree has none."""
    overlays = room.grant.overlays if room.grant else ()
    here = [one for one in overlays if one.at == str(room.path)]
    return [Path(layer) for one in here for layer in (one.upper, *one.lower)] or [room.path]


@dataclass(frozen=True, slots=True)
class _Ran:
    """A command that has ended."""

    exited: Exit
    log: str
    output: str
    usual_seconds: float
    """Usual duration of the command, if it hung."""


def _result(command: str, ran: _Ran, filed: Filed) -> CheckResult:
    exited, output = ran.exited, ran.output
    code, timed_out, printed = _status(exited), exited.ended is Ended.TIMEOUT, read_report(output)
    suite = combined(printed, filed.suite) or read_totals(output)
    if suite and code:
        suite = accounted(command, output, suite, frozenset() if printed else filed.words)
    why, about = unable(code, timed_out, output, suite) or (None, "")
    tail = _with_quote(_without_passes(exited.tail, output), output)
    return CheckResult(
        command, code, exited.seconds, tail, ran.log, timed_out, suite=suite, unable=why, about=about
    )


def _without_passes(tail: str, output: str) -> str:
    """Return the end of the output without the lines that only name a test that passed."""
    if not any(line.startswith(NAMES_A_PASS) for line in tail.splitlines()):
        return tail
    kept = [line for line in output.splitlines() if not line.startswith(NAMES_A_PASS)]
    return "\n".join(kept[-TAIL_LINES:])[-TAIL_CHARS:].strip("\n")


def _with_quote(tail: str, output: str) -> str:
    """Put the line that quotes a canary before the end of a report that is longer than that."""
    if SAID in tail or SAID not in output:
        return tail
    line = next(line for line in output.splitlines() if SAID in line)
    return f"{line[:TAIL_CHARS]}\n{tail}"


def _unprepared(command: str, failed: CheckResult) -> CheckResult:
    """A check that was not even started: without its dependencies it would say nothing of the change."""
    tail = f"the set-up `{failed.command}` {failed.how}:\n{failed.tail}"
    return replace(failed, command=command, tail=tail, unable=Unable.SETUP, about=failed.command)


def _reporting(env: dict[str, str]) -> dict[str, str]:
    more = {name: f"{env.get(name, '')} {words}".strip() for name, words in REPORTING.items()}
    return env | more


def _written(path: Path, began: int) -> str:
    """Read the output of this run of a check from its log, or the end of it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(began, size - REPORT_BYTES))
            return file.read().decode(errors="replace")
    except OSError as error:
        raise EnvironmentProblem(f"cannot read {path}: {error.strerror}") from error


def _begin(path: Path, header: str) -> int:
    """Start a section of the log and say where its output begins.

    Evidence is added to, never written over: the same check may run again after a crash.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(header)
            return file.tell()
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {path}: {error.strerror}") from error


def _status(exited: Exit) -> int:
    """Return the exit status. A command that had to be stopped is never green, even if it exits with 0."""
    if exited.ended is Ended.TIMEOUT:
        return TIMED_OUT
    return exited.code if exited.ended is Ended.EXITED else exited.code or 1


# Folders for checks: each is made for one command, and removed after it.
#
# 1. A lock of the kernel holds as long as its process lives, also while that is stopped: all that the stopped
#    process does when it wakes up, it does in its own folder.
# 2. What was started by a process that is dead or stopped is ended before a check starts: it could hold the
#    port that the check needs. What a dead one left is removed.


class Folders:
    """The folders of one project."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._mine: set[Path] = set()

    def others(self) -> list[Path]:
        """Folders of other processes' running checks, or of checks that were never ended."""
        return sorted(path for path in self._home.glob("*") if path.is_dir() and path not in self._mine)

    @contextmanager
    def fresh(self) -> Iterator[Path]:
        """Yield a new folder, locked. The caller removes it."""
        folder = self._home / uuid.uuid4().hex
        try:
            folder.mkdir(parents=True)
            lock = _locked(folder)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {folder}: {error.strerror}") from error
        self._mine.add(folder)
        try:
            yield folder
        finally:
            self._mine.discard(folder)
            os.close(lock)


def note(folder: Path) -> Path:
    """Return the file that names the process that uses a folder."""
    return folder / "supervisor.pid"


@contextmanager
def abandoned(folder: Path) -> Iterator[bool]:
    """Yield True if the process that made it is dead. Then no other process gets True until the block ends:
    two that remove one folder at once both fail."""
    try:
        lock = _locked(folder)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(lock)


def _locked(folder: Path) -> int:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


# Tells which files of a change a command has read, by their last access: it is set to 1970 beforehand.
#
# It works in any language, and sees what a report cannot: an installed copy or an old build that was tested
# in place of the change. A disk that does not note accesses says nothing; then nothing is said here either.
# Nor does one that copies files unread (`copy_file_range`, reflinks), unless the sandbox keeps programs
# from that.

LONG_AGO_NS = 0
"""1970. The kernel notes an access at once when the last one is older than the last change (`relatime`)."""


def mark_unread(folder: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Set these files below a folder to 1970; those that could be. Links and missing files are left out."""
    marked = []
    for path in paths:
        spot = folder / path
        with suppress(OSError, ValueError):
            if spot.is_symlink() or not spot.is_file():
                continue
            os.utime(spot, ns=(LONG_AGO_NS, spot.stat().st_mtime_ns))
            marked.append(path)
    return tuple(marked)


def still_unread(folder: Path, marked: Iterable[str]) -> tuple[str, ...]:
    """List the marked files that were not read since. A file that is gone by now counts as read."""
    return tuple(path for path in marked if _accessed_ns(folder / path) == LONG_AGO_NS)


def notes_accesses(folder: Path, *, copies_read: bool) -> bool:
    """Return True if the disk below this folder records that a file was read: not with `noatime`.

    `copies_read`: every program that copies a file there has to read it. Otherwise the disk is tested.
    """
    probe = folder / f".interlock-atime-{os.getpid()}"
    try:
        probe.write_text("read me")
        os.utime(probe, ns=(LONG_AGO_NS, probe.stat().st_mtime_ns))
        probe.read_text() if copies_read else _copy(probe)
        return _accessed_ns(probe) != LONG_AGO_NS
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink()


def _copy(probe: Path) -> None:
    """Copy a file as `cp` does."""
    with probe.open("rb") as source, tempfile.TemporaryFile(dir=probe.parent) as target:
        os.copy_file_range(source.fileno(), target.fileno(), 1 << 20)


def _accessed_ns(path: Path) -> int | None:
    try:
        return path.lstat().st_atime_ns
    except OSError:
        return None
