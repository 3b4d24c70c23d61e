"""Speculation: the builds to run next, each a change on top of those before it that are expected to land.

Pure: it knows chances and results, and neither State nor the repository.

Rules:
1. Two changes matter to each other if the checks of one read what the other edits, or both edit one path. A
   change is tested on top of those that matter to it; any other may land before or after it, and the result
   of its checks is the same.
2. A change is judged when no change before it that matters to it is left in the train. So a later one may
   land first, but never beside a change that it was not tested with.
3. A build is worth the chance that its result is needed: the product, over the changes before it that
   matter, of the chance that each lands or does not, as the stack assumes. A known result of such a change,
   on top of the same others, replaces its chance.
4. A build is worth more, the more changes behind it wait for its result: else the longest chain is left for
   the end, where the slots have nothing beside it to do. Of equal builds that of the earlier change comes
   first. The first change of the train comes before all, so each gets its turn.
5. A build that is hardly ever needed does not start, even if a slot is free: checks cost time and money.
6. Nothing is built on top of a change that edits how checks run: it may have made them blind.
7. A running build is stopped if a known result refutes what it assumes, or for a build that is worth far
   more: never for one that is slightly better, as it is partly done.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import islice

from interlock.model.globs import matches
from interlock.model.task import TaskId

LEAST_NEED = 0.3
"""The least chance to be needed of a build that starts (rule 5). This number and the next two are the best of
those tried in `python -m bench train`, on other seeds than it reports."""
BEHIND = 2.0
"""A build that the whole train waits for is worth so many times its need more (rule 4)."""
PATIENCE = 3.0
"""A running build is stopped only for one that is worth so many times more (rule 7)."""
DOUBT = 0.01
"""The least chance of either end of a change, while no result is certain to count."""
FIRST_CHANCE, FIRST_COUNT = 0.9, 4.0
"""The chance to pass while nothing is known, and the builds that it, or that of all work, counts for."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A change in the train, in the order in which changes take their turn."""

    task: TaskId
    passes: float
    """The chance that its checks pass on a green base."""
    touches: frozenset[str]
    """Paths that it edits."""
    reads: tuple[str, ...] | None = None
    """Globs of what the checks read that its edits can affect; None: everything."""
    steers: bool = False
    """It edits how checks run."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A change, tested on top of main and of those before it that are assumed to land."""

    task: TaskId
    ahead: tuple[TaskId, ...] = ()
    """In the order of the train; only changes that matter to it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The builds to start, best first, and the running ones to stop."""

    start: tuple[Stack, ...] = ()
    stop: tuple[Stack, ...] = ()
    sizes: Mapping[Stack, int] = field(default_factory=dict)
    """How many changes at the top of a new build are tested as one, where it is more than the last one."""


def choose_builds(
    queue: Sequence[Waiting],
    known: Mapping[Stack, bool],
    running: Collection[Stack],
    slots: int,
    window: int,
) -> Choice:
    """Choose builds for the free slots.

    `known` are the results of ended builds that still hold on the main of now: green, or red or in conflict.
    A change waits while `window` or more of those before it matter to it.
    """
    outlook = _Outlook(queue, known)
    places = {stack: place for stack in running if (place := outlook.place(stack))}
    needs = {place: outlook.need(*place) for place in places.values()}
    held = [(PATIENCE * need * outlook.weights[place[0]], place) for place, need in needs.items() if need > 0]
    begun = needs.keys() | outlook.known.keys()
    new = (entry for entry in outlook.ranked(window) if entry[1] not in begun)
    best = sorted([*held, *islice(new, slots)], key=lambda entry: (-entry[0], entry[1]))[:slots]
    wanted = [place for _, place in best]
    return Choice(
        tuple(outlook.stack(*place) for place in wanted if place not in needs),
        tuple(stack for stack in running if places.get(stack) not in wanted),
    )


def needs(
    queue: Sequence[Waiting], known: Mapping[Stack, bool], stacks: Iterable[Stack]
) -> dict[Stack, float]:
    """Return the chance of each stack that the changes before it end as it assumes (rule 3)."""
    outlook = _Outlook(queue, known)
    return {stack: outlook.need(*place) for stack in stacks if (place := outlook.place(stack))}


def matters(earlier: Waiting, later: Waiting) -> bool:
    """Return True if the result of one can depend on the other (rule 1)."""
    return (
        _reads(later.reads, earlier.touches)
        or _reads(earlier.reads, later.touches)
        or not earlier.touches.isdisjoint(later.touches)
    )


def may_go_first(change: Waiting, before: Iterable[Waiting]) -> bool:
    """Return True if it may be judged, and land, before all of these (rule 2)."""
    return not any(matters(earlier, change) for earlier in before)


def chance(passed: float, failed: float, all_passed: float, all_failed: float) -> float:
    """Estimate the chance that a change passes, from the results of its category and from all of them."""
    overall = (all_passed + FIRST_COUNT * FIRST_CHANCE) / (all_passed + all_failed + FIRST_COUNT)
    return (passed + FIRST_COUNT * overall) / (passed + failed + FIRST_COUNT)


@lru_cache(maxsize=65536)
def _reads(globs: tuple[str, ...] | None, paths: frozenset[str]) -> bool:
    return globs is None or any(matches(glob, path) for glob in globs for path in paths)


_Place = tuple[int, int]
"""A stack: the position of its change in the train, and one bit for each position ahead of it."""


class _Outlook:
    """The likely end of each change. A set of changes is an integer, with one bit for each position."""

    def __init__(self, queue: Sequence[Waiting], known: Mapping[Stack, bool]) -> None:
        self._queue = queue
        self._at = {change.task: at for at, change in enumerate(queue)}
        related = _related(queue)
        self._before = [others & ((1 << at) - 1) for at, others in enumerate(related)]
        behind = [(others >> at + 1).bit_count() for at, others in enumerate(related)]
        self.weights = [1 + BEHIND * count / len(queue) for count in behind]
        """The worth of a build of each change, beside its need (rule 4)."""
        self.weights[:1] = [1 + BEHIND]
        self.known = {place: green for stack, green in known.items() if (place := self.place(stack))}
        self._expected = 0
        """The changes that are expected to land."""
        for at in range(len(queue)):
            self._expected |= (self._lands(at, self._expected, -1) >= 0.5) << at

    def place(self, stack: Stack) -> _Place | None:
        """Return None for a stack that no train like this has."""
        at = self._at.get(stack.task)
        if at is None or not all(name in self._at for name in stack.ahead):
            return None
        ahead = sum(1 << self._at[name] for name in stack.ahead)
        return None if ahead & ~self._before[at] else (at, ahead)

    def stack(self, at: int, ahead: int) -> Stack:
        return Stack(self._queue[at].task, tuple(self._queue[other].task for other in _bits(ahead)))

    def need(self, at: int, ahead: int) -> float:
        """The chance that every change before it that matters ends as this stack assumes (rule 3)."""
        others = self._expected & ~self._before[at]
        need = 1.0
        for other in _bits(self._before[at]):
            lands = self._lands(other, ahead | others, self._before[at])
            need *= lands if ahead >> other & 1 else 1 - lands
        return need

    def ranked(self, window: int) -> Iterator[tuple[float, _Place]]:
        """All stacks that may start, with their worth, the best first (rules 3 to 6).

        Each heap entry is a decided beginning of a stack, with its worth: an upper bound for all its ends.
        So what is never popped is never worked out, of 2^n ends.
        """
        entries = ((-self.weights[at], at, 0, before) for at, before in enumerate(self._before))
        heap = [entry for entry in entries if entry[3].bit_count() < window]
        heapify(heap)
        while heap:
            worth, at, ahead, undecided = heappop(heap)
            if not undecided:
                yield -worth, (at, ahead)
                continue
            weight = -self.weights[at]
            for need, end, left in self._ends(worth / weight, at, ahead, undecided):
                heappush(heap, (need * weight, at, end, left))

    def _ends(self, need: float, at: int, ahead: int, undecided: int) -> Iterator[tuple[float, int, int]]:
        """The likeliest end of a beginning, and every other way that it branches off on its way."""
        others = self._expected & ~self._before[at]
        while undecided:
            bit = undecided & -undecided
            undecided ^= bit
            other = bit.bit_length() - 1
            lands = self._lands(other, ahead | others, self._before[at])
            branches = [(need * (1 - lands), ahead), (need * lands, ahead | bit)]
            if self._queue[other].steers:
                branches.pop()
            (need, ahead), *rest = sorted(branches, reverse=True)
            yield from ((less, end, undecided) for less, end in rest if less >= LEAST_NEED)
            if need < LEAST_NEED:
                return
        yield need, ahead, 0

    def _lands(self, at: int, ahead: int, before: int) -> float:
        """The chance of a change to land on top of these, as seen by one that those `before` it matter to."""
        green = self.known.get((at, ahead & self._before[at]))
        if green is not None and not self._before[at] & ~before:
            return float(green)
        chance = self._queue[at].passes if green is None else float(green)
        return min(max(chance, DOUBT), 1 - DOUBT)


def _related(queue: Sequence[Waiting]) -> list[int]:
    """The changes that matter to each. Many read the same, so that is asked once for all of them."""
    readers: dict[tuple[str, ...] | None, int] = {}
    editors: dict[str, int] = {}
    for at, change in enumerate(queue):
        readers[change.reads] = readers.get(change.reads, 0) | 1 << at
        for path in change.touches:
            editors[path] = editors.get(path, 0) | 1 << at
    edited = dict.fromkeys(readers, 0)
    affects = [0] * len(queue)
    for reads, several in readers.items():
        for at, change in enumerate(queue):
            if _reads(reads, change.touches):
                edited[reads] |= 1 << at
                affects[at] |= several
    return [
        _union([edited[change.reads], affects[at], *(editors[path] for path in change.touches)])
        for at, change in enumerate(queue)
    ]


def _union(sets: Iterable[int]) -> int:
    total = 0
    for each in sets:
        total |= each
    return total


def _bits(several: int) -> Iterator[int]:
    while several:
        bit = several & -several
        yield bit.bit_length() - 1
        several ^= bit
