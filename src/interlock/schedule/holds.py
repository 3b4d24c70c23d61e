"""Holders of leases, paths and capacities, and the tasks that they block.

Rules:
1. `uses` is held while the agent runs: the port or schema is free again once the agent is gone. So is a
   place among the agents of its kind of work: a capacity, which has as many holders as it has places.
2. Paths are held from the agent's start until the change has landed or is given up (`events.alone`). A task
   started from a base without that change would work on files that are about to change under it. So what a
   finished change really edits is held as well.
3. A task gets all it wants at its start or does not start, and afterwards needs nothing but the lane, which
      serves every task. So no two can wait for each other.
4. Of what the graph declares below `leases` there are as many as it says. They are held while programs of the
   task run (`events.leases`), and its checks take them again.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

from interlock.events.state import TaskState
from interlock.model.globs import matches, overlap, stem
from interlock.model.leases import counts
from interlock.model.provider import provider_of
from interlock.model.task import Agent, TaskId
from interlock.schedule.footprint import held_paths


class DemandKind(StrEnum):
    """The way in which a task wants something."""

    USE = "uses"
    LEASE = "leases"
    EXCLUSIVE = "exclusive"
    SHARED = "shared"
    TOUCH = "touches"
    CATEGORY = "category"
    ROLE = "role"
    PROVIDER = "provider"
    NOTHING = "nothing"


Demand = tuple[DemandKind, str]
"""One thing a task wants, as its definition says it."""

FREE: Demand = (DemandKind.NOTHING, "")
"""The demand of a task that wants nothing in particular."""

SEVERAL = "\n"
"""Between the names of providers of which a task may have any, and before the number of leases if that is not
1."""

COUNTED = frozenset({DemandKind.ROLE, DemandKind.CATEGORY, DemandKind.PROVIDER})
"""Capacities: several may hold one at once, how many is for State to say."""
SHARED = COUNTED | {DemandKind.LEASE}
"""Demands that several may hold at once: the first to leave makes room."""
WITH_AGENT = COUNTED | {DemandKind.USE}
"""Demands that are free again once the agent is gone."""

_HARD = {
    DemandKind.EXCLUSIVE: (DemandKind.EXCLUSIVE, DemandKind.SHARED, DemandKind.TOUCH),
    DemandKind.SHARED: (DemandKind.EXCLUSIVE,),
    DemandKind.TOUCH: (DemandKind.EXCLUSIVE,),
}
"""Paths wanted in one way must not overlap paths that another task holds in these ways."""


def also_edited(task: TaskState, edited: tuple[str, ...]) -> list[Demand]:
    expected = (*held_paths(task), *task.spec.exclusive)
    return [(DemandKind.TOUCH, path) for path in edited if not any(matches(glob, path) for glob in expected)]


def demands(task: TaskState) -> list[Demand]:
    spec = task.spec
    return [
        *((DemandKind.USE, name) for name in spec.uses),
        *leases_of(spec.leases),
        *((DemandKind.EXCLUSIVE, glob) for glob in spec.exclusive),
        *((DemandKind.SHARED, glob) for glob in spec.shared),
        *((DemandKind.TOUCH, glob) for glob in held_paths(task)),
        (DemandKind.CATEGORY, task.category),
        (DemandKind.ROLE, spec.role),
        *((DemandKind.PROVIDER, name) for name in _provider(task)),
    ]


def leases_of(names: Iterable[str]) -> list[Demand]:
    """Return what these names of leases are together."""
    found = counts(names).items()
    return [(DemandKind.LEASE, name if many == 1 else f"{name}{SEVERAL}{many}") for name, many in found]


def lease_and_number(text: str) -> tuple[str, int]:
    """Return the name in a demand for leases, and how many of it."""
    name, _, many = text.partition(SEVERAL)
    return name, int(many or 1)


def _provider(task: TaskState) -> Iterator[str]:
    """Yield the provider of its model, as far as that is settled. With candidates of several, one that is
    closed is not chosen (`agents`), and all of them together are one capacity: closed if each is."""
    agents = (task.who,) if task.has_agent or task.session.leftover else task.spec.candidates
    names = {_provider_named(a.use, a.wire, a.url, a.key_env, a.login) for a in agents}
    if "" not in names:
        yield SEVERAL.join(sorted(names))


@lru_cache(maxsize=256)
def _provider_named(use: str, wire: str, url: str, key_env: str, login: bool) -> str:
    """Asked for every task and every fact, and there are only a few."""
    return provider_of(Agent("", use, wire=wire, url=url, key_env=key_env, login=login))


class Holds:
    """The demands held now, found by name or by path."""

    def __init__(self, places: Callable[[Demand], float] = lambda _: math.inf) -> None:
        self._places = places
        """The number of tasks that may hold a capacity at once, now."""
        self._held: dict[TaskId, list[Demand]] = {}
        self._reserved: set[TaskId] = set()
        self._named: dict[Demand, set[TaskId]] = defaultdict(set)
        self._leased: dict[str, Counter[TaskId]] = defaultdict(Counter)
        self._paths = {kind: _Globs() for kind in (DemandKind.EXCLUSIVE, DemandKind.SHARED, DemandKind.TOUCH)}

    def take(self, task: TaskId, wanted: list[Demand]) -> None:
        self._held[task] = wanted
        for demand in wanted:
            kind, text = demand
            if kind is DemandKind.LEASE:
                name, many = lease_and_number(text)
                self._leased[name][task] += many
            elif kind in WITH_AGENT:
                self._named[demand].add(task)
            else:
                self._paths[kind].add(text, task)

    def reserve(self, task: TaskId, wanted: list[Demand]) -> None:
        """Reserve these for `task`, which is to have them next. Its footprint is not in the way yet."""
        self.take(task, wanted)
        self._reserved.add(task)

    def give_back(self, task: TaskId) -> None:
        self._reserved.discard(task)
        for demand in self._held.pop(task, ()):
            kind, text = demand
            if kind is DemandKind.LEASE:
                self._leased[lease_and_number(text)[0]].pop(task, None)
            elif kind in WITH_AGENT:
                self._named[demand].discard(task)
            else:
                self._paths[kind].remove(text, task)

    def hard(self, demand: Demand, task: TaskId) -> set[TaskId] | None:
        """Return the holders that block `task` from this; None: it can have it. An empty set: a capacity
        without any places."""
        kind, text = demand
        if kind in COUNTED:
            holders = self._named.get(demand, set()) - {task}
            return holders if len(holders) >= self._places(demand) else None
        if kind is DemandKind.LEASE:
            name, many = lease_and_number(text)
            others = self._leased[name].keys() - {task}
            taken = sum(self._leased[name][other] for other in others)
            return others if others and taken + many > self._places(demand) else None
        if kind is DemandKind.USE:
            return self._named.get(demand, set()) - {task} or None
        holders = {held for other in _HARD.get(kind, ()) for held in self._paths[other].overlapping(text)}
        return holders - {task} or None

    def soft(self, demand: Demand, task: TaskId) -> set[TaskId] | None:
        kind, text = demand
        if kind is not DemandKind.TOUCH:
            return None
        return set(self._paths[DemandKind.TOUCH].overlapping(text)) - self._reserved - {task} or None


class _Globs:
    """Globs with their holders, found by the plain folders they start with."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, ...], dict[str, set[TaskId]]] = {}
        self._below: dict[tuple[str, ...], dict[str, set[TaskId]]] = {}

    def add(self, glob: str, task: TaskId) -> None:
        for place in self._places(stem(glob)):
            place.setdefault(glob, set()).add(task)

    def remove(self, glob: str, task: TaskId) -> None:
        for place in self._places(stem(glob)):
            place.get(glob, set()).discard(task)
            if not place.get(glob):
                place.pop(glob, None)

    def overlapping(self, glob: str) -> Iterator[TaskId]:
        folders = stem(glob)
        near = [self._at.get(folders[:depth], {}) for depth in range(len(folders) + 1)]
        for place in (*near, self._below.get(folders, {})):
            for other, holders in place.items():
                if overlap(glob, other):
                    yield from holders

    def _places(self, folders: tuple[str, ...]) -> Iterator[dict[str, set[TaskId]]]:
        yield self._at.setdefault(folders, {})
        for depth in range(len(folders)):
            yield self._below.setdefault(folders[:depth], {})
