"""Things outside the tree that tasks lease while their programs run: so many of each, each with a value."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leasable:
    """Something that the graph offers to tasks below `leases`."""

    name: str
    count: int = 1
    """The most holders at once."""
    first: int = 0
    """The value of the first one; each of the others has the next number."""
    template: str = ""
    """The database that each program gets a copy of; empty: it is no database."""

    def values(self) -> Iterator[str]:
        return (self._value(number) for number in range(self.first, self.first + self.count))

    def has(self, value: str) -> bool:
        number = value.removeprefix(f"{self.template}/") if self.template else value
        return (
            number.isdecimal()
            and value == self._value(int(number))
            and 0 <= int(number) - self.first < self.count
        )

    def _value(self, number: int) -> str:
        return f"{self.template}/{number}" if self.template else str(number)


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

    @property
    def variable(self) -> str:
        """The environment variable that programs find it in."""
        return variable(self.name, is_database=bool(template_of(self.value)))


def offered(name: str) -> str:
    """Return the part of a name in `uses` that `leases` declares."""
    return name.partition(":")[0]


def variable(name: str, *, is_database: bool = False) -> str:
    """Return the environment variable that has the value: `PORT_WEB` for `port:web`, and `DATABASE_URL` or
    `DATABASE_URL_AUDIT` for a database, whatever its lease is called."""
    kept = "_".join(["DATABASE_URL", *filter(None, [name.partition(":")[2]])]) if is_database else name
    return re.sub(r"[^A-Za-z0-9]", "_", kept).upper()


def variables(leased: Iterable[Leased]) -> dict[str, str]:
    return {each.variable: each.value for each in leased}


def template_of(value: str) -> str:
    """Return the template of a leased database; empty: the value is none."""
    return value.rpartition("/")[0]


def counts(names: Iterable[str]) -> Counter[str]:
    """Count how many of each thing these names are."""
    return Counter(map(offered, names))


def count_of(leases: Iterable[Leasable], name: str) -> int:
    """Return how many there are. Of a thing that the graph no longer declares there is one."""
    return next((each.count for each in leases if each.name == name), 1)
