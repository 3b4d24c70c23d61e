"""A circle in the needs of tasks."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Find the tasks along a circle, each before one that it needs, the first of the file first; else none.

    A task that needs itself is no circle here: that is a problem of its own.
    """
    others = {id: [need for need in wanted if need != id] for id, wanted in needs.items()}
    try:
        TopologicalSorter(others).prepare()
    except CycleError as error:
        circle = error.args[1][:0:-1]  # graphlib names what is needed first, and the first task twice
        place = {id: number for number, id in enumerate(needs)}
        first = circle.index(min(circle, key=place.__getitem__))
        return [*circle[first:], *circle[:first]]
    return []
