"""Tasks that could start, waiting in lines: each stands in the line of one thing it wants.

A line is open, or the holder of that thing has shut it. The tasks of a shut line are not looked at, so a
thousand tasks behind one lease cost as much as one. All tasks of a line want that thing, so it is enough to
ask for the first. Heaps keep outdated entries until they come up; `_place` and `_listed` say what is current.
"""

from enum import Enum
from heapq import heappop, heappush

from interlock.model.task import TaskId
from interlock.schedule.holds import Demand
from interlock.schedule.order import Key


class LineState(Enum):
    """The state of a line."""

    OPEN = "nothing known to be in the way"
    OVERLAPPED = "only if a worker would idle"
    SHUT = "not while the holder holds it"


class Lines:
    """All lines, and the best task over those with the same gate."""

    def __init__(self) -> None:
        self._place: dict[TaskId, tuple[Key, Demand]] = {}
        self._lines: dict[Demand, list[tuple[Key, TaskId]]] = {}
        self._gate: dict[Demand, LineState] = {}
        self._shut_by: dict[TaskId | Demand, set[Demand]] = {}
        self._listed: dict[Demand, Key] = {}
        self._heads: dict[LineState, list[tuple[Key, Demand]]] = {gate: [] for gate in LineState}

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, task: TaskId) -> bool:
        return task in self._place

    def key(self, task: TaskId) -> Key:
        return self._place[task][0]

    def put(self, task: TaskId, key: Key, demand: Demand) -> None:
        """Join a line, leaving any other."""
        if self._place.get(task) == (key, demand):
            return
        self._place[task] = (key, demand)
        heappush(self._lines.setdefault(demand, []), (key, task))
        listed = self._listed.get(demand)
        if listed is None or key < listed:
            self._list(demand, key)

    def drop(self, task: TaskId) -> None:
        self._place.pop(task, None)

    def shut(self, demand: Demand, gate: LineState, holder: TaskId | Demand) -> None:
        """Let no task of this line pass, or only as a second choice, until `holder` changes. A capacity that
        is full shuts its own line, as the first task to leave makes room."""
        self._gate[demand] = gate
        self._shut_by.setdefault(holder, set()).add(demand)
        self._relist(demand)

    @property
    def full(self) -> list[Demand]:
        return [holder for holder in self._shut_by if isinstance(holder, tuple)]

    def has_anyone(self, demand: Demand) -> bool:
        return self._head(demand) is not None

    def reopen(self, holder: TaskId | Demand) -> None:
        for demand in self._shut_by.pop(holder, ()):
            if self._gate.pop(demand, None):
                self._relist(demand)

    def best(self, gate: LineState) -> tuple[TaskId, Demand] | None:
        """The first task of all lines with this gate, and the line it is in."""
        heads = self._heads[gate]
        while heads:
            key, demand = heads[0]
            head = self._head(demand)
            if head and head[0] == key and self._is_listed(demand, key, gate):
                return head[1], demand
            heappop(heads)
            if self._is_listed(demand, key, gate):
                self._relist(demand)
        return None

    def _is_listed(self, demand: Demand, key: Key, gate: LineState) -> bool:
        return self._listed.get(demand) == key and self._gate.get(demand, LineState.OPEN) is gate

    def _head(self, demand: Demand) -> tuple[Key, TaskId] | None:
        line = self._lines.get(demand, [])
        while line and self._place.get(line[0][1]) != (line[0][0], demand):
            heappop(line)
        return line[0] if line else None

    def _relist(self, demand: Demand) -> None:
        head = self._head(demand)
        if head:
            self._list(demand, head[0])
        else:
            self._lines.pop(demand, None)
            self._listed.pop(demand, None)

    def _list(self, demand: Demand, key: Key) -> None:
        self._listed[demand] = key
        gate = self._gate.get(demand, LineState.OPEN)
        if gate is not LineState.SHUT:
            heappush(self._heads[gate], (key, demand))
