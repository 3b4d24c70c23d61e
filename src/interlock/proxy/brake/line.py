"""Waiting calls: first in, first out within an attempt, and the attempts in turn. Pure."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class CallQueue(Generic[T]):
    """An attempt with a hundred calls waits no shorter for its second than another for its first."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(line) for line in self._lines.values())

    def join(self, attempt: str, waiter: T) -> None:
        self._lines.setdefault(attempt, deque()).append(waiter)

    def leave(self, attempt: str, waiter: T) -> None:
        """It waits no longer, if it still did."""
        line = self._lines.get(attempt)
        if line is not None and waiter in line:
            line.remove(waiter)
            if not line:
                del self._lines[attempt]

    def next(self) -> T:
        """Remove and return the next in turn. Raises KeyError if none waits."""
        attempt, line = self._lines.popitem(last=False)
        waiter = line.popleft()
        if line:
            self._lines[attempt] = line
        return waiter
