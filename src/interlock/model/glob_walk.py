"""Follows globs down the folders of a tree, so that no path is compared that cannot match.

A walk is the positions that each glob has reached. `enter` begins one, `step` goes into a folder or to a
file.
"""

from collections.abc import Iterable
from typing import NamedTuple

from interlock.model.globs import SPAN, Segment, segments_meet, segments_of


class Reached(NamedTuple):
    """One glob, and the positions in it that a path has reached."""

    segments: tuple[Segment, ...]
    positions: frozenset[int]

    @property
    def is_match(self) -> bool:
        return len(self.segments) in self.positions

    @property
    def is_whole(self) -> bool:
        """Tell if it matches everything below."""
        return self.segments[-1:] == (SPAN,) and len(self.segments) - 1 in self.positions


Walk = tuple[Reached, ...]


def enter(globs: Iterable[str]) -> Walk:
    """Begin at the top of a tree."""
    return tuple(Reached(segments, _closed(segments, [0])) for segments in map(segments_of, globs))


def step(walk: Walk, name: str) -> Walk:
    """Go to an entry of the folder; empty if nothing at it or below it can match."""
    following = []
    for segments, positions in walk:
        reached = []
        for position in positions:
            if position == len(segments):
                continue
            if segments[position] == SPAN:
                reached.append(position)
            elif segments_meet(segments[position], name):
                reached.append(position + 1)
        if reached:
            following.append(Reached(segments, _closed(segments, reached)))
    return tuple(following)


def leads_to(folder: str, globs: Iterable[str]) -> bool:
    """Tell if something in a folder, or below it, can match one of the globs."""
    walk = enter(globs)
    for name in filter(None, folder.split("/")):
        walk = step(walk, name)
    return bool(walk)


def _closed(segments: tuple[Segment, ...], positions: Iterable[int]) -> frozenset[int]:
    """Add the positions behind a `**`, which may stand for nothing. No two of these follow each other."""
    closed = set(positions)
    closed |= {position + 1 for position in closed if segments[position : position + 1] == (SPAN,)}
    return frozenset(closed)
