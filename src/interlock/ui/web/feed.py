"""What a project shows, kept as JSON with the revision at which each part changed last.

1. State is folded once, when the server starts; from then on new facts are applied to it.
2. A sweep asks the queries for every row and keeps those that changed. It may take a tenth of the time: the
   next one waits ten times as long as the last one took. Without clients nothing is swept.
3. A client names the revision that it has, and gets what changed since. So a slow client gets fewer and
   larger updates, and nothing is queued for it.
4. Times that pass by themselves change nothing: clients count on from `since`.
"""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from msgspec import Raw

from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.errors import StoreUnavailable
from interlock.model.reason import Why
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.ui.at_work import agents_at_work
from interlock.ui.checks_at_work import checks_begun
from interlock.ui.queries.agents import AgentRow
from interlock.ui.queries.inbox import items
from interlock.ui.queries.queue import QueueRow, QueueView, queue_view
from interlock.ui.queries.radar import radar_document, radar_view
from interlock.ui.queries.status import Eta, Frame, frame
from interlock.ui.queries.tasks import TaskRow, rows
from interlock.ui.reading import Reading
from interlock.ui.web.project import Served
from interlock.ui.web.wire import encoded

SHARE = 10
"""A sweep waits this many times as long as the last one took."""
TICK_SECONDS = 0.1
"""Interval at which agents are looked at, and clients are told what changed."""
STALE_SECONDS = 2.0
"""A claim may expire without a fact: after this time everything is looked at again."""
AGAIN_SECONDS = 1.0
"""After a log could not be read, it is tried again."""
STEP_SECONDS = 5.0
"""The steps in which a wait that gets shorter is told."""


@dataclass(slots=True)
class Kept:
    """One part of what is shown."""

    rev: int
    key: bytes
    """What is compared: the part without times that pass by themselves."""
    text: bytes


@dataclass(slots=True)
class Rows:
    """Parts by name."""

    items: dict[str, Kept] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    """Names that are no longer there, with the revision since when."""

    def put(self, name: str, key: bytes, value: object, rev: int) -> bool:
        """Keep a part; True if it changed."""
        known = self.items.get(name)
        if known and known.key == key:
            return False
        self.items[name] = Kept(rev, key, encoded(value))
        self.gone.pop(name, None)
        return True

    def keep_only(self, names: Iterable[str], rev: int) -> bool:
        left = self.items.keys() - set(names)
        for name in left:
            del self.items[name]
            self.gone[name] = rev
        return bool(left)

    def since(self, rev: int) -> list[Raw]:
        return [Raw(kept.text) for kept in self.items.values() if kept.rev > rev]

    def gone_since(self, rev: int) -> list[str]:
        return [name for name, at in self.gone.items() if at > rev]


@dataclass(frozen=True, slots=True)
class Alive:
    """The `alive` events of the stream: nothing changed."""

    cursor: str
    seq: int
    time: float
    stale_seconds: float
    """For so long the log could not be read: what is shown is as old."""
    problem: str
    """Why; empty: it can be read."""


class Feed:
    """What one project shows, and its changes."""

    def __init__(self, served: Served) -> None:
        self.boot = secrets.token_hex(4)
        """Names this feed: revisions of another one mean nothing."""
        self.rev = 0
        self.watchers = 0
        self.served = served
        self._problem = ""
        self._clock = asyncio.get_running_loop().time
        self._read_at = self._clock()
        self._eta = Eta()
        self._tasks, self._agents, self._parts = Rows(), Rows(), Rows()
        self._swept_seq = -1
        self._swept_at = 0.0
        self._sweep_seconds = 0.0
        self._changed = asyncio.Event()
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Follow the log for as long as the server runs."""
        while True:
            try:
                await self._follow()
                self._problem, self._read_at = "", self._clock()
            except StoreUnavailable as error:
                self._problem = str(error)
            except Exception as error:  # noqa: BLE001 - without this, pages would be live and never change
                self._problem = f"internal error: {type(error).__name__}: {error}"
            await asyncio.sleep(AGAIN_SECONDS if self._problem else TICK_SECONDS)

    async def _follow(self) -> None:
        if self.watchers:
            await self.refresh()
        elif await self.served.wait(STALE_SECONDS):
            await self.served.catch_up()

    def alive(self) -> Alive:
        """The message to a client for which nothing changed."""
        old = max(0.0, self._clock() - self._read_at - STALE_SECONDS)
        return Alive(self.cursor(self.rev), self.served.state.seq, self.served.now(), old, self._problem)

    async def refresh(self, at_once: bool = False) -> None:
        """Apply new facts, and find out what changed. `at_once`: a sweep may not wait."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            reading = await self.served.look()
            age = loop.time() - self._swept_at
            is_due = reading.state.seq != self._swept_seq and (at_once or age > SHARE * self._sweep_seconds)
            if is_due or age > max(STALE_SECONDS, SHARE * self._sweep_seconds):
                began = loop.time()
                self._sweep(reading)
                self._swept_seq, self._swept_at = reading.state.seq, loop.time()
                self._sweep_seconds = self._swept_at - began
            self._look_at_agents(reading)

    def _sweep(self, reading: Reading) -> None:
        state, board, rev = reading.state, Board(reading.state), self.rev + 1
        present = [name for name, task in state.tasks.items() if task.stage is not Stage.REMOVED]
        packed = [name for name in state.done.packed if name not in self._tasks.items]
        found = rows(reading, _in_order(state, [*present, *packed]), board)
        changed = [self._tasks.put(row.id, _task_key(row), row, rev) for row in found]
        changed.append(self._tasks.keep_only([*present, *state.done.packed], rev))
        shown = frame(reading, board, found, self._eta)
        queue = queue_view(reading, checks_begun(reading, self.served.log.state_dir))
        for name, key, value in (
            ("frame", _frame_key(shown), shown),
            ("inbox", None, items(reading)),
            ("queue", _queue_key(queue), queue),
            ("radar", None, replace(radar_document(radar_view(reading)), time=0.0)),
        ):
            text = encoded(value) if key is None else key
            changed.append(self._parts.put(name, text, value, rev))
        self._tell(any(changed))

    def _look_at_agents(self, reading: Reading) -> None:
        rev = self.rev + 1
        found = agents_at_work(reading, self.served.watcher)
        changed = [self._agents.put(row.task, _agent_key(row), row, rev) for row in found]
        changed.append(self._agents.keep_only([row.task for row in found], rev))
        self._tell(any(changed))

    def _tell(self, changed: bool) -> None:
        if changed:
            self.rev += 1
            self._changed.set()
            self._changed = asyncio.Event()

    async def changed(self, rev: int, seconds: float) -> bool:
        """Wait until there is a newer revision; False if there was none for so long."""
        if self.rev > rev:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def cursor(self, rev: int) -> str:
        return f"{self.boot}-{rev}"

    def rev_of(self, cursor: str) -> int | None:
        """The revision that a client has; None: it is not one of this feed."""
        boot, _, rev = cursor.partition("-")
        known = boot == self.boot and rev.isdecimal() and len(rev) < 16
        return int(rev) if known and int(rev) <= self.rev else None

    async def snapshot(self) -> dict[str, object]:
        await self.refresh(at_once=True)
        return {**self._head(), **self._changes(-1)}

    def update(self, rev: int) -> dict[str, object]:
        """What changed after a revision."""
        gone = {"tasks": self._tasks.gone_since(rev), "agents": self._agents.gone_since(rev)}
        return {**self._head(), "after": self.cursor(rev), **self._changes(rev), "gone": gone}

    def _head(self) -> dict[str, object]:
        served = self.served
        return {
            "cursor": self.cursor(self.rev),
            "seq": served.state.seq,
            "time": served.now(),
            "project": served.name,
        }

    def _changes(self, rev: int) -> dict[str, object]:
        parts = {name: Raw(kept.text) for name, kept in self._parts.items.items() if kept.rev > rev}
        return {"tasks": self._tasks.since(rev), "agents": self._agents.since(rev), **parts}


def _in_order(state: State, names: list[TaskId]) -> list[TaskId]:
    """As the graph has them: a client shows tasks in the order in which it gets them first."""
    return sorted(names, key=lambda name: (state.tasks.get(name) or state.done.packed[name]).accepted)


def _task_key(row: TaskRow) -> bytes:
    return encoded(replace(row, reason=_reason_key(row.reason)))


def _reason_key(reason: Mapping[str, object]) -> dict[str, object]:
    """The reason without the seconds in it, which pass by themselves."""
    key = dict(reason)
    if "seconds" in key or "silent_seconds" in key:
        is_running = key["code"] == Why.RUNNING
        key["text"] = ""
        seconds = key.pop("seconds", 0.0)
        key["step"] = 0 if is_running or not isinstance(seconds, (int, float)) else seconds // STEP_SECONDS
        key["silent_seconds"] = "silent_seconds" in key
    return key


def _frame_key(shown: Frame) -> bytes:
    run = shown.run
    if run and run.seconds_to_go is not None:
        ends = shown.time + run.seconds_to_go
        run = replace(run, seconds_to_go=ends // STEP_SECONDS)
    return encoded(replace(shown, run=run, time=0.0))


def _queue_key(shown: QueueView) -> bytes:
    def row_key(row: QueueRow) -> QueueRow:
        lands = row.lands_in_seconds
        ends = None if lands is None else (shown.time + lands) // STEP_SECONDS
        return replace(row, reason=_reason_key(row.reason), lands_in_seconds=ends)

    return encoded(replace(shown, queue=tuple(map(row_key, shown.queue)), time=0.0))


def _agent_key(row: AgentRow) -> bytes:
    return encoded(replace(row, quiet_seconds=None, running_seconds=0.0))
