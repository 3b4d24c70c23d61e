"""Batches: where slots are scarce and failures rare, one build tests several changes that are to land as one.

Pure: it knows chances and results, and neither State nor the repository.

Rules:
1. A batch is a row of changes that follow one another in the train, and whose checks read the same. No
   other change matters to one of them, except those that are in the row as well.
2. It has about 1 / sqrt(p) changes (p: the chance to fail), and no more than the slots are too few for.
   Until so many wait, each is tested alone.
3. A red batch is halved, and the first half is tested. If that lands, the rest is known to be red, and is
   halved in turn: what lands is always a beginning of the batch. The last one left is judged alone.
4. What is tested as one stays one, until it has landed or was red. Which batches there are follows from the
   builds: nothing else remembers them.
5. Batches are chosen like changes (`speculation`): one that lands or fails as a whole.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from interlock.model.task import TaskId
from interlock.train.speculation import Choice, Stack, Waiting, choose_builds, matters

MOST_SLOTS = 2
"""With more slots batches lose: the builds that they save would have run beside the others."""
BATCH = 0.6
"""A batch has at most so many changes, divided by the root of the chance to fail. Measured as in
`speculation`."""
AFTER_SPLIT = 0.5
"""The chance of half a red batch to pass."""

Group = tuple[Waiting, ...]
"""Changes that are built as one."""


def choose_batches(
    queue: Sequence[Waiting],
    known: Mapping[Stack, bool],
    running: Mapping[Stack, int],
    sizes: Mapping[Stack, int],
    joinable: Collection[TaskId],
    limits: tuple[int, int],
) -> Choice:
    """Choose builds for the free slots, of batches and of single changes.

    `running` and `sizes` (of `known`) say how many changes at the top of a stack are tested as one; `limits`
    are the slots and the window of `choose_builds`. Only `joinable` changes land with others.
    """
    stacks = {**sizes, **running}
    groups = _groups(queue, known, stacks, joinable, limits[0])
    place = {each.task: at for at, group in enumerate(groups) for each in group}
    red = [{*(*stack.ahead, stack.task)[-stacks.get(stack, 1) :]} for stack in known if not known[stack]]
    whole = {stack: _whole(stack, groups, place) for stack in (*known, *running)}
    choice = choose_builds(
        [_as_one(group, red) for group in groups],
        {made: green for stack, green in known.items() if (made := whole[stack])},
        [made for stack in running if (made := whole[stack])],
        *limits,
    )
    top = {group[-1].task: group for group in groups}
    flat = {made: stack for stack, made in whole.items() if made}
    start = {_flat(made, top): len(top[made.task]) for made in choice.start}
    lost = [stack for stack in running if not whole[stack]]
    return Choice(tuple(start), (*lost, *(flat[made] for made in choice.stop)), start)


def _groups(
    queue: Sequence[Waiting],
    known: Mapping[Stack, bool],
    stacks: Mapping[Stack, int],
    joinable: Collection[TaskId],
    slots: int,
) -> list[Group]:
    """The changes and batches, in the order of their first change."""
    groups: list[Group] = []
    for row in _rows(queue, joinable):
        at = {each.task: place for place, each in enumerate(row)}
        cuts = {0, len(row)}
        tested = dict[int, int]()
        for stack, size in stacks.items():
            if stack.task in at:
                cuts |= _ends(stack, size, at)
                tested[at[stack.task]] = size
        halved = _halves(known, stacks, at, cuts)
        load = max(1, len(queue) // slots)
        for first, end in pairwise(sorted(cuts | halved)):
            is_one = end - 1 in tested or first in halved or end in halved
            groups += [row[first:end]] if is_one else _cut(row[first:end], load)
    order = {each.task: at for at, each in enumerate(queue)}
    return sorted(groups, key=lambda group: order[group[0].task])


def _rows(queue: Sequence[Waiting], joinable: Collection[TaskId]) -> Iterator[Group]:
    """Split the train into rows of changes that may be one batch (rule 1)."""
    alike: dict[tuple[str, ...] | None, list[Waiting]] = {}
    for each in queue:
        alike.setdefault(each.reads, []).append(each)
    for row in alike.values():
        inside = {each.task for each in row}
        others = [each for each in queue if each.task not in inside]
        is_closed = not any(matters(other, each) for other in others for each in row)
        first = 0
        for at, each in enumerate(row):
            if not is_closed or each.task not in joinable:
                yield from (part for part in (tuple(row[first:at]), (each,)) if part)
                first = at + 1
        if first < len(row):
            yield tuple(row[first:])


def _ends(stack: Stack, size: int, at: Mapping[TaskId, int]) -> set[int]:
    """The places in a row where a stack begins and ends, and where the part begins that it tests as one."""
    inside = sorted(at[task] for task in (*stack.ahead, stack.task) if task in at)
    held = set(inside)
    cuts = {place for place in inside if place - 1 not in held}
    cuts |= {place + 1 for place in inside if place + 1 not in held}
    return cuts | {inside[-size] if size <= len(inside) else inside[0]}


def _halves(
    known: Mapping[Stack, bool], stacks: Mapping[Stack, int], at: Mapping[TaskId, int], cuts: Collection[int]
) -> set[int]:
    """The middles of batches that are red on main as it is, and of which no part was built yet (rule 3)."""
    found = set[int]()
    for stack, green in known.items():
        if green or stack.task not in at or stacks.get(stack, 1) <= len(stack.ahead):
            continue
        end = at[stack.task] + 1
        first = end - len(stack.ahead) - 1
        if end - first > 1 and not any(first < cut < end for cut in cuts):
            found.add(first + (end - first) // 2)
    return found


def _cut(row: Group, load: int) -> list[Group]:
    """Make batches of changes that no build has as one yet (rule 2); those that are too few stay alone."""
    groups: list[Group] = []
    at = 0
    while at < len(row):
        size = max(1, int(min(load, BATCH * max(1e-9, 1 - row[at].passes) ** -0.5)))
        size = size if at + size <= len(row) else 1
        groups.append(row[at : at + size])
        at += size
    return groups


def _as_one(group: Group, red: Sequence[set[TaskId]]) -> Waiting:
    """A batch as one change, under the name of the last of them. `red`: batches that are."""
    names = {each.task for each in group}
    is_half = any(names < batch for batch in red)
    passes = AFTER_SPLIT if is_half else prod(each.passes for each in group)
    if len(group) == 1:
        return replace(group[0], passes=passes)
    touches = frozenset().union(*(each.touches for each in group))
    return Waiting(group[-1].task, passes, touches, group[0].reads)


def _whole(stack: Stack, groups: Sequence[Group], place: Mapping[TaskId, int]) -> Stack | None:
    """A stack of changes as one of batches; None: it does not have all changes of each."""
    tasks = {stack.task, *stack.ahead}
    if not tasks <= place.keys():
        return None
    used = sorted({place[task] for task in tasks})
    if sum(len(groups[at]) for at in used) != len(tasks) or groups[place[stack.task]][-1].task != stack.task:
        return None
    below = (groups[at][-1].task for at in used if at != place[stack.task])
    return Stack(stack.task, tuple(below))


def _flat(stack: Stack, top: Mapping[TaskId, Group]) -> Stack:
    """A stack of batches as one of changes."""
    tasks = [each.task for name in (*stack.ahead, stack.task) for each in top[name]]
    return Stack(tasks[-1], tuple(tasks[:-1]))
