"""What only the log knows: runs, bars, usage, failures, decisions; and past moments.

Read once, when it is first asked for, in pieces between which the server answers others; from then on new
facts are added. A past moment is folded from the nearest State that was kept.
"""

import asyncio
from bisect import bisect_right
from dataclasses import dataclass, field, replace

from interlock.events.finished import unpacked
from interlock.events.fold import apply
from interlock.events.record import Recorded
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State, TaskState
from interlock.learn.errors import Errors
from interlock.learn.flakes import Flakes
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.store.protocol import Store
from interlock.ui.queries.clutch import Decisions
from interlock.ui.queries.runs import reading_of
from interlock.ui.queries.spending import Spending
from interlock.ui.queries.timeline import Plan, RunMark, Runs, Timeline
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import reason_text

PIECE = 1_000
"""Facts that are read before others get their turn."""
KEPT_EVERY = 10_000
MOST_KEPT = 20
"""States of past moments, packed."""
MOST_TIMELINES = 3
MOST_MOMENTS = 4
"""Past moments that are ready: a page asks several routes about the same one."""


class AllTasks(dict[TaskId, TaskState]):
    """The tasks of a State with those that were done long ago, which are unpacked when they are looked at."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._state.knows(TaskId(name))

    def __getitem__(self, name: TaskId) -> TaskState:
        known = self._state.tasks.get(name)
        return known or unpacked(self._state, name)


@dataclass(slots=True)
class Sums:
    """Everything that is added up over the whole log."""

    errors: Errors
    runs: Runs = field(default_factory=Runs)
    plan: Plan = field(default_factory=Plan)
    spending: Spending = field(default_factory=Spending)
    decisions: Decisions = field(default_factory=Decisions)
    flakes: Flakes = field(default_factory=Flakes)

    def add(self, row: Recorded) -> None:
        self.runs.add(row)
        self.plan.add(row)
        self.spending.add(row)
        self.errors.add(row)
        self.decisions.add(row)
        self.flakes.add(row)


@dataclass(slots=True)
class Read:
    """A timeline as far as it was read."""

    timeline: Timeline
    seq: int


class Past:
    """The past of one project."""

    def __init__(self, store: Store, state: State) -> None:
        self._store = store
        self._state = state
        self._sums = Sums(Errors(replace(state, tasks=AllTasks(state)), reason_text))
        self._seq = 0
        self._timelines: dict[int, Read] = {}
        self._kept: dict[int, tuple[str, bytes]] = {}
        self._moments: dict[int, State] = {}
        self._lock = asyncio.Lock()

    async def sums(self) -> Sums:
        """The sums up to the newest fact that State has."""
        async with self._lock:
            await self._read_sums()
            return self._sums

    async def _read_sums(self) -> None:
        while self._seq < self._state.seq and (rows := await self._store.read(self._seq, PIECE)):
            for row in rows:
                self._sums.add(row)
            self._seq = rows[-1].seq
            await asyncio.sleep(0)

    async def timeline(self, number: int) -> tuple[RunMark | None, Timeline]:
        """A run and its timeline; 0: the last run."""
        async with self._lock:
            await self._read_sums()
            if not self._sums.runs.found and not number:
                return None, Timeline()
            run = self._sums.runs.get(number)
            known = self._timelines.pop(run.number, None) or Read(Timeline(), run.first - 1)
            self._timelines[run.number] = known
            for oldest in list(self._timelines)[:-MOST_TIMELINES]:
                del self._timelines[oldest]
            while known.seq < run.last and (
                rows := await self._store.read(known.seq, min(PIECE, run.last - known.seq))
            ):
                for row in rows:
                    known.timeline.add(row)
                known.seq = rows[-1].seq
                await asyncio.sleep(0)
            return run, known.timeline

    async def moment(self, seq: int) -> Reading:
        """Every task as it was right after a fact."""
        if not 1 <= seq <= self._state.seq:
            raise UsageError(f"there is no fact {seq}", f"the log has facts 1 to {self._state.seq}")
        async with self._lock:
            state = self._moments.pop(seq, None) or await self._folded(seq)
            self._moments[seq] = state
            for oldest in list(self._moments)[:-MOST_MOMENTS]:
                del self._moments[oldest]
        return reading_of(state)

    async def _folded(self, seq: int) -> State:
        state = self._nearest(seq)
        while state.seq < seq and (rows := await self._store.read(state.seq, min(PIECE, seq - state.seq))):
            for row in rows:
                apply(state, row)
            if state.seq % KEPT_EVERY < PIECE:
                self._keep(state)
            await asyncio.sleep(0)
        return state

    async def position_at(self, time: float) -> int:
        """The last fact up to a time; the first one if all are later. Times of facts never go back."""
        first, end = 1, max(1, self._state.seq)
        while first < end:
            middle = (first + end + 1) // 2
            (row,) = await self._store.read(middle - 1, 1)
            first, end = (middle, end) if row.time <= time else (first, middle - 1)
        return first

    def _nearest(self, seq: int) -> State:
        places = sorted(self._kept)
        at = bisect_right(places, seq)
        if not at:
            return State()
        hash, data = self._kept[places[at - 1]]
        return unpack(data, hash) or State()

    def _keep(self, state: State) -> None:
        place = state.seq // KEPT_EVERY * KEPT_EVERY
        if place and not any(kept // KEPT_EVERY * KEPT_EVERY == place for kept in self._kept):
            self._kept[state.seq] = (state.hash, pack(state))
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
