"""The index over State that says what starts next. Work per call follows what changed, not how much there is.

Rules:
1. Board never writes to State. The caller that folds a fact tells `update` which tasks it changed.
2. `choose` may be called again before its choices have started, and then chooses the same.
3. A free slot and a ready task that nothing stands in the way of: it starts (work conserving). Overlapping
   footprints are second choice, for a slot that would otherwise idle.
4. Hard leases are never broken. What the first task in order wants is kept free for it once it has been ready
   for RESERVE_AFTER_SECONDS; otherwise small tasks could hand a lease to each other for ever. As every task
   becomes the first in order at some time (`order`), and those under way end, every task starts.
5. All answers depend on State and the time alone, never on the way there: a Board built afresh agrees.
"""

import math
import operator
from collections import Counter
from collections.abc import Collection, Iterable
from heapq import heappop, heappush
from typing import NamedTuple

from interlock.events.alone import edited, holds_paths, is_attempted
from interlock.events.asked import ScopeRequest
from interlock.events.baselines import obstacle
from interlock.events.leases import holds_values
from interlock.events.lifecycle import Stage
from interlock.events.main import leaving_need
from interlock.events.state import State, TaskState
from interlock.model.forecast import Forecast
from interlock.model.leases import Leased
from interlock.model.reason import LEASES, Reason, Why
from interlock.model.step import Widen
from interlock.model.task import PhaseKind, Task, TaskId
from interlock.schedule.capacities import Capacities
from interlock.schedule.holds import (
    COUNTED,
    FREE,
    WITH_AGENT,
    Demand,
    DemandKind,
    Holds,
    also_edited,
    demands,
    leases_of,
)
from interlock.schedule.lines import Lines
from interlock.schedule.order import Key, sort_key
from interlock.schedule.reasons import Needs, ReasonContext, explain
from interlock.schedule.round import Choice, Round
from interlock.schedule.tails import Tails

RESERVE_AFTER_SECONDS = 3_600.0
"""Longer than most attempts take. Sooner, leases would lie idle for a task that is about to get them."""
LOOK_AGAIN_SECONDS = 5.0
"""A task that is late waits for something else first, most of the time: for a slot, or for what it needs."""

JUMP_SECONDS = 60.0
NO_TASK = TaskId("")


class LeaseTimeouts:
    """The time limits of tasks that wait for a lease (`lease_timeout`), found without a look at all tasks.

    The end of a wait fails a task, so a clock that jumps ahead must not bring it about. The loop looks every
    second: if more than JUMP_SECONDS seem to have passed between two looks, they did not pass for the tasks.
    """

    def __init__(self) -> None:
        self._ends: dict[TaskId, tuple[float, float]] = {}
        """The start of each wait, and its end if no clock jumps."""
        self._first = math.inf
        self._looked = 0.0
        self._jumps: list[tuple[float, float]] = []
        """The time after which the clock jumped, and the size of the jump."""

    def note(self, name: TaskId, task: TaskState) -> None:
        self._ends.pop(name, None)
        if task.spec.lease_seconds and task.stage is Stage.WAITING:
            since = task.queue.ready_since if task.phase.kind is PhaseKind.AGENT else task.since
            self._ends[name] = since, since + task.spec.lease_seconds
            self._first = min(self._first, self._ends[name][1])

    def late(self, now: float) -> list[TaskId]:
        """List the tasks whose time is over, if it is time to look."""
        if self._looked and now - self._looked > JUMP_SECONDS:
            self._jumps.append((self._looked, now - self._looked))
        self._looked = now
        if now < self._first:
            return []
        ends = {name: self._without_jumps(*span) for name, span in self._ends.items()}
        late = sorted(name for name, end in ends.items() if end <= now)
        self._first = min((end for end in ends.values() if end > now), default=math.inf)
        if late:
            self._first = min(self._first, now + LOOK_AGAIN_SECONDS)
        return late

    def _without_jumps(self, since: float, end: float) -> float:
        return end + sum(size for at, size in self._jumps if at >= since)


class Board:
    """The choice of tasks to start, and the reasons that the others wait."""

    def __init__(self, state: State, now: float = 0.0) -> None:
        self._state = state
        self._tails = Tails(state)
        self._needs = Needs(state)
        self._capacities = Capacities(state)
        self._holds = Holds(self._capacities.places)
        self._held: dict[TaskId, _Hold] = {}
        self._lines = Lines()
        self._popular: Counter[Demand] = Counter()
        self._timers: list[tuple[float, TaskId]] = []
        self._patience = LeaseTimeouts()
        self._order: list[tuple[Key, TaskId]] = []
        for name in state.tasks:
            self._tails.note(name)
        self._tails.refresh()
        self.update(state.tasks)
        self._settle(now)

    def update(self, changed: Iterable[TaskId]) -> None:
        self._needs.forget()
        for name in changed:
            task = self._state.tasks.get(name)
            if task is None:  # done long ago, so it holds nothing and is in no line
                self._tails.forget(name)
                continue
            self._tails.note(name)
            self._note_hold(name, task)
            self._note_line(name, task)

    def choose(self, slots: int, now: float) -> list[Choice]:
        self._settle(now)
        if slots <= 0 or self._state.limits.paused:
            return []
        reserved = self._reserve(now)
        picking = Round(self._state, self._holds, self._lines, self._tails, now)
        picks = picking.run(slots)
        for holder in [*(pick.task for pick in picks), *reserved]:
            self._release(holder)
        return picks

    @property
    def queue_length(self) -> int:
        """Return the number of tasks that could start and wait for a slot or for another task's lease."""
        return len(self._lines)

    def reason(self, task: TaskId, now: float) -> Reason:
        return self.reason_of(self._state.tasks[task], now)

    def reason_of(self, task: TaskState, now: float) -> Reason:
        """Return the same for a task that may have left `State.tasks`."""
        self._settle(now)
        reserved = self._reserve(now)
        standing = ReasonContext(self._state, self._needs, self._holds, frozenset(reserved), now)
        reason = explain(standing, task)
        for holder in reserved:
            self._release(holder)
        return reason

    def answer(self, task: TaskId, asked: ScopeRequest) -> Widen:
        """Answer an agent that wants to edit unexpected paths: all of them or none, by the leases held now.

        Yes, unless one is reserved, or another task holds it alone: a line in a neighbour's file is better
        than a workaround.
        """
        if asked.reserved:
            why = Reason(Why.SCOPE_RESERVED, {"paths": asked.reserved})
            return Widen(task, asked.attempt, asked.seq, asked.paths, False, why)
        shared: set[TaskId] = set()
        for path in asked.paths:
            want = (DemandKind.TOUCH, path)
            if alone := self._holds.hard(want, task):
                why = Reason(Why.SCOPE_HELD, {"tasks": tuple(sorted(alone)), "path": path})
                return Widen(task, asked.attempt, asked.seq, asked.paths, False, why)
            shared |= self._holds.soft(want, task) or set()
        why = Reason(Why.SCOPE_SHARED, {"tasks": tuple(sorted(shared))}) if shared else Reason(Why.SCOPE_FREE)
        return Widen(task, asked.attempt, asked.seq, asked.paths, True, why)

    def next_wakeup(self, now: float, besides: Collection[TaskId] = ()) -> float | None:
        """Return the time at which the next postponed task may go on; None if there is none `besides`."""
        self._settle(now)
        while self._timers and not self._is_timed(*self._timers[0]):
            heappop(self._timers)
        opening = [at for line in self._lines.full if (at := self._opens_at(line))]
        timers = self._timers if besides else self._timers[:1]
        timed = [at for at, name in timers if name not in besides and self._is_timed(at, name)]
        return min([*opening, *timed], default=None)

    def _opens_at(self, capacity: Demand) -> float | None:
        return self._capacities.opens_at(capacity) if self._lines.has_anyone(capacity) else None

    def _note_hold(self, name: TaskId, task: TaskState) -> None:
        hold, before = _hold(self._state, task), self._held.get(name)
        if _is_same(hold, before):
            return
        if before:
            del self._held[name]
            self._release(name)
        if hold:
            self._held[name] = hold
            wanted = [
                want
                for want in demands(task)
                if want[0] is not DemandKind.LEASE and (hold.with_agent or want[0] not in WITH_AGENT)
            ]
            wanted += leases_of(each.name for each in hold.leased)
            self._holds.take(name, wanted + also_edited(task, hold.edited))

    def overdue(self, now: float) -> list[tuple[TaskId, Reason]]:
        """List the tasks that have waited too long for a lease of another, each with the reason."""
        late = [(name, self.reason(name, now)) for name in self._patience.late(now)]
        return [(name, reason) for name, reason in late if reason.code in LEASES]

    def _note_line(self, name: TaskId, task: TaskState) -> None:
        self._patience.note(name, task)
        if task.stage is Stage.WAITING and task.queue.not_before:
            heappush(self._timers, (task.queue.not_before, name))
            self._lines.drop(name)
        elif _could_start(self._state, task):
            self._join(name)
        else:
            self._lines.drop(name)

    def _join(self, name: TaskId) -> None:
        task = self._state.tasks[name]
        wanted = demands(task)
        key = sort_key(task, self._tails.seconds(name))
        if name not in self._lines:
            self._popular.update(wanted)
        if not self._is_in_order(key, name):
            heappush(self._order, (key, name))
        # The line that most others share: one lease that blocks them all then shuts one line, not many.
        waited_for = [want for want in wanted if want[0] not in COUNTED or self._capacities.is_limited(want)]
        self._lines.put(name, key, max(waited_for, key=self._popular.__getitem__, default=FREE))

    def _settle(self, now: float) -> None:
        """Let urgencies, keys, timers and capacities catch up."""
        self._capacities.now = now
        for capacity in self._lines.full:
            if self._holds.hard(capacity, NO_TASK) is None:
                self._lines.reopen(capacity)
        for name in self._tails.refresh():
            if name in self._lines:
                self._join(name)
        while self._timers and self._timers[0][0] <= now:
            timer = heappop(self._timers)
            if self._is_timed(*timer) and timer[1] not in self._state.index.train:
                self._join(timer[1])

    def _is_timed(self, until: float, name: TaskId) -> bool:
        """Tell if the task still goes on at that time without a new fact."""
        task = self._state.tasks.get(name)
        if task is None or task.stage is not Stage.WAITING or task.queue.not_before != until:
            return False
        return _could_start(self._state, task) or (
            name in self._state.index.train and _hold(self._state, task) is not None
        )

    def _reserve(self, now: float) -> list[TaskId]:
        """Keep free what the first in order wants, if it has been kept waiting for long (rule 4)."""
        while self._order and not self._is_in_order(*self._order[0]):
            heappop(self._order)
        if not self._order:
            return []
        first = self._state.tasks[self._order[0][1]]
        name = first.spec.id
        # Places are not kept free: the first in order has the next one anyway, and may not need it yet.
        wanted = [want for want in demands(first) if want[0] not in COUNTED]
        if now - first.queue.ready_since < RESERVE_AFTER_SECONDS or not any(
            self._holds.hard(want, name) for want in wanted
        ):
            return []
        self._holds.reserve(name, wanted)
        return [name]

    def _is_in_order(self, key: Key, name: TaskId) -> bool:
        return name in self._lines and self._lines.key(name) == key

    def _release(self, holder: TaskId) -> None:
        self._holds.give_back(holder)
        self._lines.reopen(holder)


def _could_start(state: State, task: TaskState) -> bool:
    """An agent could work on it if there were room; backing off is the timers' business."""
    name = task.spec.id
    return (
        task.stage is Stage.WAITING
        and task.phase.kind is PhaseKind.AGENT
        and task.queue.unmet == 0
        and leaving_need(state, task) is None
        and not task.queue.paused
        and task.asks is None
        and not task.session.leftover
        and name not in state.index.reconcile
        and state.is_selected(name)
        and obstacle(state, task) is None
    )


class _Hold(NamedTuple):
    """The values that decide all that a task holds."""

    spec: Task
    forecast: Forecast | None
    scope: tuple[str, ...]
    with_agent: bool
    edited: tuple[str, ...]
    """Paths of its finished change."""
    leased: tuple[Leased, ...]


def _hold(state: State, task: TaskState) -> _Hold | None:
    """Return the task's hold, and if its agent is at work (rules 1 and 2 of `holds`)."""
    leased = task.session.leased if holds_values(task) else ()
    if not leased and not holds_paths(state, task):
        return None
    with_agent = is_attempted(task) and (not task.session.exited or task.session.leftover > 0)
    return _Hold(task.spec, task.forecast, task.session.scope, with_agent, edited(state, task) or (), leased)


def _is_same(hold: _Hold | None, before: _Hold | None) -> bool:
    """Compare the parts by identity: comparing their fields for every fact would cost more than it saves."""
    if hold is None or before is None:
        return hold is before
    return all(map(operator.is_, hold, before))
