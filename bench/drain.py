"""A train in simulated time: builds run and end, changes land or go back, and every landed tree is kept."""

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import Protocol

from bench.changes import History
from interlock.model.task import TaskId
from interlock.train.speculation import Choice, Stack, Waiting, chance, matters, may_go_first

AFTER_RED, AFTER_RED_COUNT = 0.2, 4.0
"""The chance of a change to pass when its build runs again because it was red, and its weight as a guess."""
AFTER_SPLIT = 0.5
"""The chance of half a red batch to pass."""


def after_landing(stack: Stack, change: Waiting, landed: Waiting) -> Stack | None:
    """Return the stack of a change as it is on the new main; None: it was built without what landed."""
    if landed.task in stack.ahead:
        return Stack(stack.task, tuple(name for name in stack.ahead if name != landed.task))
    return None if matters(landed, change) else stack


class Policy(Protocol):
    """Chooses builds for a train."""

    @property
    def inputs(self) -> bool:
        """Checks declare what they read."""

    @property
    def joint(self) -> bool:
        """A green build lands also what it was built on, as one commit."""

    def choose(self, train: "Train") -> Choice:
        """Builds to start and to stop, maybe after changes were put together into batches."""

    def judged(self, *, landed: bool) -> None:
        """Take note of the end of a change."""


@dataclass(slots=True)
class Run:
    """A build under way."""

    began: float
    ends: float
    is_green: bool


@dataclass(slots=True)
class Sums:
    """What a train needed."""

    builds: int = 0
    repeats: int = 0
    """Builds that ran once more because they were red."""
    check_seconds: float = 0.0
    """Of all builds, also of those that were stopped."""
    wrongly_back: int = 0
    """Good changes that went back to their agents."""


class Train:
    """One history with one policy. A change that goes back to its agent does not come again.

    A batch is one change of the queue that stands for several. It has the name of the last of them.
    """

    def __init__(self, history: History, policy: Policy) -> None:
        self.history, self.policy, self.slots = history, policy, history.cell.slots
        self.now = 0.0
        self.coming = list(history.changes.values())[::-1]
        self.queue: list[Waiting] = []
        self.members: dict[TaskId, tuple[TaskId, ...]] = {}
        self.known: dict[Stack, bool] = {}
        self.running: dict[Stack, Run] = {}
        self.sizes: dict[Stack, int] = {}
        """How many changes at the top of a build are tested as one; not named: the last one."""
        self.doubted: set[TaskId] = set()
        """Changes whose red build runs once more before it counts."""
        self.halves: set[TaskId] = set()
        """Parts of batches that were red."""
        self.landings: list[tuple[TaskId, ...]] = []
        self.main: set[TaskId] = set()
        self.sums = Sums()
        self._passed: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        """By area, and of all."""
        self._again = [AFTER_RED * AFTER_RED_COUNT, AFTER_RED_COUNT]
        """Builds that were green when they ran once more, and all that did."""
        self._times: Counter[Stack] = Counter()

    def drain(self) -> None:
        """Run until every change has landed or gone back."""
        while self.coming or self.queue:
            if not self.queue:
                self._arrive()
            while any(self._land_together(at) or self._judge(at) for at in range(len(self.queue))):
                pass
            if self.queue:
                self._choose()
                self._advance()

    def merge(self, several: list[Waiting]) -> None:
        """Make them one batch."""
        *_, last = several
        names = {each.task for each in several}
        self.members[last.task] = tuple(name for each in several for name in self.members[each.task])
        at = next(at for at, each in enumerate(self.queue) if each.task in names)
        self.queue = [each for each in self.queue if each.task not in names]
        self.queue.insert(at, self._waiting(last.task))

    def _arrive(self) -> None:
        change = self.coming.pop()
        self.now = max(self.now, change.arrives)
        self.members[change.task] = (change.task,)
        self.queue.append(self._waiting(change.task))

    def _waiting(self, task: TaskId) -> Waiting:
        changes = [self.history.changes[name] for name in self.members[task]]
        area = changes[0].area
        passes = prod(self._chance(change.area) for change in changes)
        if task in self.doubted:
            passes = self._again[0] / self._again[1]
        elif task in self.halves:
            passes = AFTER_SPLIT
        paths = frozenset(f"{change.area}/{change.task}" for change in changes)
        return Waiting(task, passes, paths, (f"{area}/**",) if self.policy.inputs else None)

    def _chance(self, area: str) -> float:
        return chance(self._passed[area], self._failed[area], self._passed[""], self._failed[""])

    def _choose(self) -> None:
        self.queue = [self._waiting(each.task) for each in self.queue]
        choice = self.policy.choose(self)
        for build in choice.stop:
            self._stop(build)
        for build in choice.start:
            self.sizes[build] = choice.sizes.get(build, 1)
            self._start(build)
        assert self.running, "a train with work left builds something"
        assert len(self.running) <= self.slots

    def _start(self, build: Stack) -> None:
        tree = {*self.main, *(name for task in (*build.ahead, build.task) for name in self.members[task])}
        self._times[build] += 1
        if build.task in self.doubted:
            self.sums.repeats += 1
        else:
            self.sums.builds += 1
        green = self.history.is_green(tree) and not self.history.flakes(build, self._times[build])
        top = (*build.ahead, build.task)[-self.sizes[build] :]
        seconds = max(self.history.changes[name].seconds for task in top for name in self.members[task])
        self.running[build] = Run(self.now, self.now + seconds, green)

    def _stop(self, build: Stack) -> None:
        self.sums.check_seconds += self.now - self.running.pop(build).began

    def _advance(self) -> None:
        """Go on to the next arrival or end of a build."""
        build = min(self.running, key=lambda build: self.running[build].ends)
        if self.coming and self.coming[-1].arrives <= self.running[build].ends:
            self._arrive()
            return
        run = self.running.pop(build)
        self.now = run.ends
        self.sums.check_seconds += run.ends - run.began
        self.known[build] = run.is_green
        if build.task in self.doubted:
            self._again[0] += run.is_green
            self._again[1] += 1

    def _land_together(self, at: int) -> bool:
        """Land a change and all that it waits for, if they are green together.

        Areas have nothing in common here, so the checks of one are those of all.
        """
        if not self.policy.joint:
            return False
        change = self.queue[at]
        green = {build.ahead for build, passed in self.known.items() if passed and build.task == change.task}
        before = [each for each in self.queue[:at] if matters(each, change)] if green else []
        if not before or tuple(each.task for each in before) not in green:
            return False
        landings = len(self.landings)
        for each in (*before, change):
            self._land(each)
        self.landings[landings:] = [tuple(name for group in self.landings[landings:] for name in group)]
        return True

    def _judge(self, at: int) -> bool:
        change, build = self.queue[at], Stack(self.queue[at].task)
        green = self.known.get(build)
        if green is None or not may_go_first(change, self.queue[:at]):
            return False
        if green:
            self._land(change)
        elif len(self.members[change.task]) > 1:
            self._split(at)
        elif change.task not in self.doubted:
            self.doubted.add(change.task)
            del self.known[build]
        else:
            self._refuse(change)
        return True

    def _split(self, at: int) -> None:
        """Halve a red batch. Together they are known to be red."""
        last = self.queue[at].task
        members = self.members[last]
        first, rest = members[: len(members) // 2], members[len(members) // 2 :]
        self.members[first[-1]], self.members[last] = first, rest
        self.halves |= {first[-1], last}
        self.queue[at : at + 1] = [self._waiting(first[-1]), self._waiting(last)]
        self._forget(last)
        self.known[Stack(last, (first[-1],))] = False

    def _land(self, change: Waiting) -> None:
        members = self.members[change.task]
        self.landings.append(members)
        self.main.update(members)
        self._leave(change, landed=True)
        waiting = {each.task: each for each in self.queue}
        moved = {
            build: now
            for build in (*self.running, *self.known)
            if (now := after_landing(build, waiting[build.task], change))
        }
        for build in self.running.keys() - moved.keys():
            self._stop(build)
        self.running = {moved[build]: run for build, run in self.running.items()}
        self.known = {moved[build]: green for build, green in self.known.items() if build in moved}
        self.sizes = {now: self.sizes.get(build, 1) for build, now in moved.items()}

    def _refuse(self, change: Waiting) -> None:
        self.sums.wrongly_back += self.history.is_green({*self.main, change.task})
        self._leave(change, landed=False)

    def _leave(self, change: Waiting, *, landed: bool) -> None:
        self.queue = [each for each in self.queue if each.task != change.task]
        for name in self.members[change.task]:
            counts = self._passed if landed else self._failed
            counts.update((self.history.changes[name].area, ""))
            self.policy.judged(landed=landed)
        self._forget(change.task, only_own=landed)

    def _forget(self, task: TaskId, *, only_own: bool = False) -> None:
        """Drop what was built of it, and on top of it."""
        for build in list(self.running):
            if task == build.task or (task in build.ahead and not only_own):
                self._stop(build)
        self.known = {
            build: green
            for build, green in self.known.items()
            if task != build.task and (only_own or task not in build.ahead)
        }
