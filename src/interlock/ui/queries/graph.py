"""The plan as a drawing: each task in a layer after all that it needs, with few crossing lines.

Longest paths give the layers; some sweeps put each task near the middle of its neighbours (barycentre).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from interlock.ui.queries.tasks import Bucket, TaskRow

SWEEPS = 6
OVER = ("landed", "failed")
Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class Node:
    """A task, and where it is drawn."""

    id: str
    needs: tuple[str, ...]
    """Only tasks that are in the drawing."""
    story: str
    bucket: Bucket
    expected_seconds: float | None
    layer: int
    """0: it needs nothing."""
    place: int
    """Its place in the layer."""


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """All tasks as a drawing."""

    nodes: list[Node]
    layers: int
    widest: int
    """Tasks in the largest layer."""
    critical: tuple[str, ...]
    """The longest chain of what is left: no schedule ends before it does."""
    seq: int


def graph_document(rows: Sequence[TaskRow], seq: int) -> GraphDocument:
    places = layout({row.id: row.needs for row in rows})
    nodes = [
        Node(
            id=row.id,
            needs=tuple(need for need in row.needs if need in places),
            story=row.story,
            bucket=row.bucket,
            expected_seconds=row.expected_seconds,
            layer=places[row.id][0],
            place=places[row.id][1],
        )
        for row in rows
    ]
    used = [node.layer for node in nodes]
    widest = max((used.count(layer) for layer in set(used)), default=0)
    left = {row.id: row.expected_seconds or 0.0 for row in rows if row.bucket not in OVER}
    chain = longest_chain({row.id: row.needs for row in rows}, left)
    return GraphDocument(nodes, max(used, default=-1) + 1, widest, chain, seq)


def longest_chain(needs: Mapping[Name, Sequence[Name]], seconds: Mapping[Name, float]) -> tuple[Name, ...]:
    """The chain of needs among the names with a time that takes longest; of equals, that of most tasks."""
    inner = {name: [need for need in needs[name] if need in seconds] for name in seconds if name in needs}
    depth, ends = layers(inner), dict[Name, tuple[float, int]]()
    for name in sorted(inner, key=depth.__getitem__):
        ahead = max((ends[need] for need in inner[name] if need in ends), default=(0.0, 0))
        ends[name] = (ahead[0] + seconds[name], ahead[1] + 1)
    chain: list[Name] = []
    last = max(ends, key=ends.__getitem__, default=None)
    while last is not None and last not in chain:
        chain.append(last)
        last = max((need for need in inner[last] if need in ends), key=ends.__getitem__, default=None)
    return tuple(reversed(chain))


def layout(needs: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, int]]:
    """The layer and the place of each name. Needs that are no name here, and cycles, are left out."""
    layer = layers(needs)
    rows: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name in needs:
        rows[layer[name]].append(name)
    users: dict[str, list[str]] = {name: [] for name in needs}
    for name, wanted in needs.items():
        for need in wanted:
            if need in users:
                users[need].append(name)
    place = {name: float(at) for row in rows for at, name in enumerate(row)}
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            _arrange(row, needs if downwards else users, place)
    return {name: (layer[name], at) for row in rows for at, name in enumerate(row)}


def layers(needs: Mapping[Name, Sequence[Name]]) -> dict[Name, int]:
    """The longest path to each name, without recursion: a chain may have ten thousand tasks."""
    layer: dict[Name, int] = {}
    open_names: set[Name] = set()
    for start in needs:
        stack = [start]
        while stack:
            name = stack[-1]
            if name in layer:
                stack.pop()
                continue
            open_names.add(name)
            ahead = [
                need for need in needs[name] if need in needs and need not in layer and need not in open_names
            ]
            if ahead:
                stack.extend(ahead)
                continue
            layer[name] = 1 + max((layer.get(need, -1) for need in needs[name]), default=-1)
            open_names.discard(name)
            stack.pop()
    return layer


def _arrange(row: list[str], neighbours: Mapping[str, Sequence[str]], place: dict[str, float]) -> None:
    """Sort a layer by the middle of the neighbours on one side; without any a task stays where it is."""

    def middle(name: str) -> float:
        beside = [place[each] for each in neighbours[name] if each in place]
        return sum(beside) / len(beside) if beside else place[name]

    row.sort(key=middle)
    for at, name in enumerate(row):
        place[name] = float(at)
