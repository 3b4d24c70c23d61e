"""Ways to choose the builds of a train: ours, and those of others."""

from bench.drain import Train
from interlock.model.task import TaskId
from interlock.train.batches import choose_batches
from interlock.train.speculation import Choice, Stack, choose_builds

WINDOW = 20
"""At most so many changes before one that matter to it."""
FLOOR = 3
"""Of a window that failures make smaller."""


class Ours:
    """The very rules of the product."""

    def __init__(self, *, inputs: bool, batches: bool = False, joint: bool = False) -> None:
        self.inputs, self.batches, self.joint = inputs, batches, joint

    def choose(self, train: Train) -> Choice:
        """Best first, and with batches as many changes in one as slots are too few."""
        queue = train.queue[: max(WINDOW, 3 * train.slots)]
        if not self.batches:
            return choose_builds(queue, train.known, train.running.keys(), train.slots, WINDOW)
        running, known = ({b: train.sizes[b] for b in builds} for builds in (train.running, train.known))
        joinable = {each.task for each in queue} - train.doubted
        return choose_batches(queue, train.known, running, known, joinable, (train.slots, WINDOW))

    def judged(self, *, landed: bool) -> None:
        """Nothing is learned."""


class Lane:
    """One chain, as it was before builds: each on top of the one before, at most `depth` under way."""

    inputs = joint = False

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.on_main_only: set[TaskId] = set()
        """Changes that were red on top of another: they are built again on main, with nothing beside them."""

    def choose(self, train: Train) -> Choice:
        """Add to the end of the chain."""
        red = {build.task for build, green in train.known.items() if not green}
        self.on_main_only |= red
        train.known = {k: green for k, green in train.known.items() if not red & {k.task, *k.ahead}}
        stop = tuple(build for build in train.running if red & {*build.ahead})
        under_way = {build.task for build in (*train.running, *train.known) if build not in stop}
        chain = [each.task for each in train.queue if each.task in under_way]
        start: list[Stack] = []
        first = train.queue[0].task
        if first in train.doubted and first not in chain:
            chain.insert(0, first)  # what is built on top of it waits for its second result
            start.append(Stack(first))
        for each in train.queue:
            if each.task in chain:
                continue
            if len(chain) >= self.depth or (chain and each.task in self.on_main_only):
                break
            start.append(Stack(each.task, tuple(chain)))
            chain.append(each.task)
        return Choice(tuple(start), stop)

    def judged(self, *, landed: bool) -> None:
        """Nothing is learned."""


class Batches:
    """As bors: all that wait are tested together; halves of them if that is red, one after the other."""

    inputs = joint = False

    def choose(self, train: Train) -> Choice:
        """The next half, or all that wait."""
        if train.running:
            return Choice()
        if train.queue[0].task not in train.halves | train.doubted:
            train.merge(train.queue)
        return Choice((Stack(train.queue[0].task),))

    def judged(self, *, landed: bool) -> None:
        """Nothing is learned."""


class Prefix:
    """As Zuul: each on top of all before it that did not fail, in a window that failures halve."""

    inputs = joint = False

    def __init__(self) -> None:
        self.window = WINDOW

    def choose(self, train: Train) -> Choice:
        """Test the window anew from where what is ahead has changed."""
        ahead: tuple[TaskId, ...] = ()
        wanted: list[Stack] = []
        for each in train.queue[: self.window]:
            build = Stack(each.task, ahead)
            wanted.append(build)
            if train.known.get(build) is not False and each.task not in train.doubted:
                ahead = (*ahead, each.task)
        stop = tuple(build for build in train.running if build not in wanted)
        free = train.slots - len(train.running) + len(stop)
        new = [build for build in wanted if build not in train.running and build not in train.known]
        return Choice(tuple(new[:free]), stop)

    def judged(self, *, landed: bool) -> None:
        """One more for a landing, half for a failure."""
        self.window = min(WINDOW, self.window + 1) if landed else max(FLOOR, self.window // 2)
