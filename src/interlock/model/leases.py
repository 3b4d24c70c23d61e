"""Things outside the tree that tasks lease while their programs run: so many of each, each with a value."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leasable:
    """Something that the graph offers to tasks below `leases`."""

    name: str
    count: int = 1
    """The most holders at once."""
    first: int = 0
    """The value of the first one; each of the others has the next number."""

    @property
    def values(self) -> range:
        return range(self.first, self.first + self.count)


@dataclass(frozen=True, slots=True)
class Leased:
    """One value that an attempt has to itself."""

    name: str
    """As `uses` names it: `gpu`, or `port:web` for the `web` among several ports."""
    value: str

    @property
    def key(self) -> tuple[str, str]:
        """Name what no two may have at once."""
        return offered(self.name), self.value


def offered(name: str) -> str:
    """Return the part of a name in `uses` that `leases` declares."""
    return name.partition(":")[0]


def variable(name: str) -> str:
    """Return the environment variable that has the value: `PORT_WEB` for `port:web`."""
    return re.sub(r"[^A-Za-z0-9]", "_", name).upper()


def variables(leased: Iterable[Leased]) -> dict[str, str]:
    return {variable(each.name): each.value for each in leased}


def counts(names: Iterable[str]) -> Counter[str]:
    """Count how many of each thing these names are."""
    return Counter(map(offered, names))


def count_of(leases: Iterable[Leasable], name: str) -> int:
    """Return how many there are. Of a thing that the graph no longer declares there is one."""
    return next((each.count for each in leases if each.name == name), 1)
