"""Collects the attempts that say something about a kind of work, and weighs them.

Rules:
1. Attempts of the very kind (category, agent and model, in this project) count in full.
2. Related attempts are heard group by group. However many there are, a group counts for so many attempts at
   most: their average tells where the kind lies only as well as such groups resemble each other. With n
   attempts and at most m it counts n m / (n + m), which is the exact weight when the ratio of the spread
   within a group to the spread between groups is m.
3. No attempt is heard twice: the groups have nothing in common.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import TypeVar

from interlock.events.tallies import Goodput, Sums, Tally, kind


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work, done by one agent with one model."""

    category: str
    agent: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Witness:
    """A group of attempts, added up."""

    tally: Tally
    most: float
    """The most attempts of the very kind that it may count for."""

    def weight(self, count: float) -> float:
        """Return the weight of this many of its attempts."""
        return count * self.most / (count + self.most) if count else 0.0


def _witness(group: Iterable[Tally], most: float) -> Witness:
    return Witness(reduce(plus, group, Tally("", "", "")), most)


class PastAttempts:
    """Attempts of this project."""

    def __init__(self, here: Mapping[str, Tally]) -> None:
        self.here = here

    def of_agent(self, agent: str) -> "PastAttempts":
        """Return only the attempts of this agent."""
        return PastAttempts({key: tally for key, tally in self.here.items() if tally.agent == agent})

    def own(self, wanted: Kind) -> Tally:
        """The attempts of the very kind."""
        key = kind(wanted.category, wanted.agent, wanted.model)
        return self.here.get(key) or Tally(wanted.category, wanted.agent, wanted.model)

    def witnesses(self, wanted: Kind) -> list[Witness]:
        """Everyone else who can say something, in groups."""
        own = self.own(wanted)
        left = [tally for tally in self.here.values() if tally is not own]
        found: list[Witness] = []
        for most, belongs in _RELATED:
            found.append(_witness((tally for tally in left if belongs(tally, wanted)), most))
            left = [tally for tally in left if not belongs(tally, wanted)]
        return found


_S = TypeVar("_S", Tally, Goodput, Sums)


def plus(one: _S, other: _S) -> _S:
    """Two of a kind, added up; names are those of the first."""
    total = replace(one)
    for each in fields(one):
        mine, theirs = getattr(one, each.name), getattr(other, each.name)
        if isinstance(mine, Sums):
            setattr(total, each.name, plus(mine, theirs))
        elif isinstance(mine, float):
            setattr(total, each.name, mine + theirs)
    return total


_Belongs = Callable[[Tally, Kind], bool]
_RELATED: tuple[tuple[float, _Belongs], ...] = (
    (6.0, lambda tally, wanted: (tally.category, tally.agent) == (wanted.category, wanted.agent)),
    (4.0, lambda tally, wanted: tally.category == wanted.category),
    (1.0, lambda tally, wanted: tally.agent == wanted.agent),
    (0.5, lambda _tally, _wanted: True),
)
"""Groups in this project, the nearest first: another model; another agent; another kind of work; any other.
Within a kind two thirds of the times lie within a factor of two. Between agents at one kind of work the
averages differ by less than half of that, between kinds of work by as much: hence four, and one. More would
draw the longest work towards the rest, and that is the work which decides how long a run takes."""
