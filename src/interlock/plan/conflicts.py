"""Pairs of tasks that may run at the same time and want the same thing.

Sets of tasks are bits of one number, so that ten thousand tasks on one file are counted without listing
the pairs.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from interlock.model.leases import counts, offered
from interlock.model.task import Task, TaskId
from interlock.plan.glob_index import GlobIndex
from interlock.plan.network import Network

LISTED = 200
"""More pairs than this tell a person nothing."""


class Clash(StrEnum):
    """The severity of an overlap."""

    HARD = "hard"
    """The tasks never run at the same time: one has the thing to itself."""
    SOFT = "soft"
    """The tasks may run at the same time; their changes may then conflict."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two tasks, neither of which needs the other, and what both want."""

    first: TaskId
    second: TaskId
    severity: Clash
    over: str
    """The globs, or the thing used."""

    @property
    def may_proceed(self) -> bool:
        return self.severity is Clash.SOFT


@dataclass(frozen=True, slots=True)
class Conflicts:
    """The first conflicts, hard ones first, and how many there are."""

    listed: tuple[Conflict, ...] = ()
    hard: int = 0
    soft: int = 0
    is_complete: bool = True
    """False: the globs are too many and too alike to compare them all, so there may be more."""


def find_conflicts(network: Network, index: GlobIndex, single: Collection[str] = ()) -> Conflicts:
    """Every pair that overlaps and is not ordered by needs. `single`: the leases of which there is one."""
    holders = _Holders(network, index)
    leased: dict[str, int] = {}
    for i, task in enumerate(network.tasks):
        for name in counts(task.leases).keys() & set(single):
            leased[name] = leased.get(name, 0) | 1 << i
    hard: list[int] = []
    soft: list[int] = []
    for i, task in enumerate(network.tasks):
        # Needs have lower numbers, so looking at lower numbers only gives each pair once.
        free = ((1 << i) - 1) & ~network.ancestors[i]
        hard.append((holders.hard(task) | _union(leased, map(offered, task.leases))) & free)
        soft.append(holders.soft(task) & free & ~hard[i])
    listed = [_conflict(network, index, pair, Clash.HARD) for pair in _first_pairs(hard, LISTED)]
    listed += [
        _conflict(network, index, pair, Clash.SOFT) for pair in _first_pairs(soft, LISTED - len(listed))
    ]
    return Conflicts(tuple(listed), _total(hard), _total(soft), index.is_complete)


class _Holders:
    """The tasks that want each glob and each thing used, or something overlapping it."""

    def __init__(self, network: Network, index: GlobIndex) -> None:
        self._touching = _members(network, "touches")
        self._exclusive = _members(network, "exclusive")
        self._shared = _members(network, "shared")
        self._using = _members(network, "uses")
        every = self._touching.keys() | self._exclusive.keys() | self._shared.keys()
        self._touching = {glob: _union(self._touching, index.near(glob)) for glob in every}
        self._exclusive = {glob: _union(self._exclusive, index.near(glob)) for glob in every}
        self._shared = {glob: _union(self._shared, index.near(glob)) for glob in every}

    def hard(self, task: Task) -> int:
        found = _union(self._using, task.uses) | _union(self._exclusive, (*task.touches, *task.shared))
        for members in (self._exclusive, self._touching, self._shared):
            found |= _union(members, task.exclusive)
        return found

    def soft(self, task: Task) -> int:
        return _union(self._touching, (*task.touches, *task.shared)) | _union(self._shared, task.touches)


def _members(network: Network, field: str) -> dict[str, int]:
    members: dict[str, int] = {}
    for i, task in enumerate(network.tasks):
        for name in getattr(task, field):
            members[name] = members.get(name, 0) | 1 << i
    return members


def _union(members: dict[str, int], names: Iterable[str]) -> int:
    found = 0
    for name in names:
        found |= members.get(name, 0)
    return found


def _total(rows: list[int]) -> int:
    return sum(row.bit_count() for row in rows)


def _first_pairs(rows: list[int], limit: int) -> Iterator[tuple[int, int]]:
    for i, row in enumerate(rows):
        rest = row
        while rest and limit > 0:
            lowest = rest & -rest
            yield lowest.bit_length() - 1, i
            rest ^= lowest
            limit -= 1


def _conflict(network: Network, index: GlobIndex, pair: tuple[int, int], severity: Clash) -> Conflict:
    first, second = network.tasks[pair[0]], network.tasks[pair[1]]
    return Conflict(first.id, second.id, severity, _wanted_by_both(first, second, index, severity))


def _wanted_by_both(first: Task, second: Task, index: GlobIndex, severity: Clash) -> str:
    used = [name for name in first.uses if name in second.uses]
    if severity is Clash.HARD:
        used += sorted(counts(first.leases).keys() & counts(second.leases).keys())
    if used:
        return used[0]
    for ours, theirs in _pairings(first, second, severity):
        for a in ours:
            for b in index.near(a):
                if b in theirs:
                    return a if a == b else f"{a} and {b}"
    raise AssertionError(f"{first.id} and {second.id} do not overlap")


def _pairings(
    first: Task, second: Task, severity: Clash
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The globs of one task that clash with globs of the other, in the form of `_Holders`."""
    worked_on, relied_on = (*first.touches, *first.shared), (*second.touches, *second.shared)
    if severity is Clash.HARD:
        return (first.exclusive, (*second.exclusive, *relied_on)), (worked_on, second.exclusive)
    return (first.touches, relied_on), (first.shared, second.touches)
