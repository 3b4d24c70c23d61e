"""JSON that a program printed, read so that nothing in it can surprise.

What is missing, of another type or no JSON at all is as good as not there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from interlock.model.numbers import MOST, amount, whole


@dataclass(frozen=True, slots=True)
class Json:
    """An object of a program's output. A question names the keys on the way to the value."""

    fields: Mapping[str, object] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.fields)

    def at(self, *path: str) -> object:
        """Return the value at the path; None if there is none."""
        value: object = self.fields
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text(self, *path: str) -> str:
        """The text there, or ''."""
        value = self.at(*path)
        return value if isinstance(value, str) else ""

    def number(self, *path: str) -> int:
        """The count there; 0 for what is none, or is negative."""
        return whole(self.at(*path))

    def amount(self, *path: str) -> float | None:
        """The amount there, at least 0; or None."""
        return amount(self.at(*path))

    def code(self, *path: str) -> int | None:
        """The exit status there, or None."""
        value = self.at(*path)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if -MOST < value < MOST else None

    def says(self, *path: str) -> bool:
        """Tell if `true` is there."""
        return self.at(*path) is True

    def item(self, *path: str) -> "Json":
        """The object there, or an empty one."""
        value = self.at(*path)
        return Json(value) if isinstance(value, dict) else Json()

    def items(self, *path: str) -> Iterator["Json"]:
        """The objects of the list there."""
        value = self.at(*path)
        return (
            (Json(item) for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
        )


def read_object(line: str) -> Json | None:
    """The object that a line holds; None for anything else."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return Json(value) if isinstance(value, dict) else None


def compact(value: object) -> str:
    """A value as one line of JSON, for people to read."""
    return msgspec.json.encode(value).decode()
