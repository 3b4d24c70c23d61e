"""Going through a whole run in the times that are expected. Plain lists: it is done several times in a row.

A job that cannot have a lease waits at that lease, and only the first there is looked at when it is free
again. So a thousand jobs that want one lease cost no more than a thousand that do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import NamedTuple

ROUNDS = 2
"""A third gained nothing that could be measured (docs/why/leases.md)."""


@dataclass(frozen=True, slots=True)
class JobLayout:
    """Jobs by number: what each takes, and who comes before whom."""

    seconds: Sequence[float]
    needs: Sequence[Sequence[int]]
    needed_by: Sequence[Sequence[int]]
    takes: Sequence[Sequence[int]]
    """Leases that a job wants alone, by number."""
    shares: Sequence[Sequence[int]]
    """Leases that it holds beside others, though not beside one that wants it alone."""
    leases: int

    def backwards(self) -> "JobLayout":
        """The same from its end."""
        return replace(self, needs=self.needed_by, needed_by=self.needs)


class Plan(NamedTuple):
    """The planned course of a run."""

    urgency: Sequence[float]
    """The time from each job's latest start to the end of the run."""
    ready: Sequence[float]
    """The time from the beginning of the run until each job is free to start."""


def make_plan(layout: JobLayout, slots: int, tails: Sequence[float]) -> Plan:
    """The best of a few, beginning with the one that looks at chains alone (`tails`)."""
    turned = layout.backwards()
    best, urgency, ends = tails, tails, run_through(layout, slots, tails)
    best_ends = ends
    for _ in range(ROUNDS):
        urgency = run_through(turned, slots, ends)
        ends = run_through(layout, slots, urgency)
        if max(ends) < max(best_ends):
            best, best_ends = urgency, ends
    ready = [max((best_ends[need] for need in needs), default=0.0) for needs in layout.needs]
    return Plan(best, ready)


def run_through(layout: JobLayout, slots: int, urgency: Sequence[float]) -> list[float]:
    """Return the end of each job, if the most urgent of those that could start always does."""
    return _Pass(layout, slots).run(urgency)


_Key = tuple[float, int]
"""Sorts before others: starts before others."""
_NOWHERE = -1


class _Pass:
    """One time through."""

    def __init__(self, layout: JobLayout, slots: int) -> None:
        self._layout, self._slots = layout, slots
        self._unmet = [len(needs) for needs in layout.needs]
        self._ready: list[tuple[_Key, int]] = []
        """Each with the lease it comes from."""
        self._waiting: list[list[_Key]] = [[] for _ in range(layout.leases)]
        self._alone = [0] * layout.leases
        self._shared = [0] * layout.leases
        self._running: list[tuple[float, int]] = []

    def run(self, urgency: Sequence[float]) -> list[float]:
        """Return the end of each job."""
        ends = [0.0] * len(self._unmet)
        for job, unmet in enumerate(self._unmet):
            if not unmet:
                heappush(self._ready, ((-urgency[job], job), _NOWHERE))
        self._start(0.0)
        while self._running:
            now, job = heappop(self._running)
            ends[job] = now
            self._give_back(job)
            for later in self._layout.needed_by[job]:
                self._unmet[later] -= 1
                if not self._unmet[later]:
                    heappush(self._ready, ((-urgency[later], later), _NOWHERE))
            if not self._running or self._running[0][0] > now:
                self._start(now)
        return ends

    def _start(self, now: float) -> None:
        while self._ready and len(self._running) < self._slots:
            key, origin = heappop(self._ready)
            job = key[1]
            blocker = self._blocker(job)
            if blocker == _NOWHERE:
                self._take(job)
                heappush(self._running, (now + self._layout.seconds[job], job))
            else:
                heappush(self._waiting[blocker], key)
            if origin not in (_NOWHERE, blocker):
                self._call_next(origin)

    def _blocker(self, job: int) -> int:
        for lease in self._layout.takes[job]:
            if self._alone[lease] or self._shared[lease]:
                return lease
        return next((lease for lease in self._layout.shares[job] if self._alone[lease]), _NOWHERE)

    def _take(self, job: int) -> None:
        for lease in self._layout.takes[job]:
            self._alone[lease] += 1
        for lease in self._layout.shares[job]:
            self._shared[lease] += 1

    def _give_back(self, job: int) -> None:
        for lease in self._layout.takes[job]:
            self._alone[lease] -= 1
            self._call_next(lease)
        for lease in self._layout.shares[job]:
            self._shared[lease] -= 1
            self._call_next(lease)

    def _call_next(self, lease: int) -> None:
        if self._waiting[lease] and not self._alone[lease]:
            heappush(self._ready, (heappop(self._waiting[lease]), lease))
