"""Reading JSON that others wrote: what is missing or of another type is empty, never an error."""

import json
from collections.abc import Iterator

from interlock.model.numbers import whole

MOST_DIGITS = 100


def value_at(value: object, *path: str | int) -> object:
    """Return the value at the path; None if there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_at(value: object, *path: str | int) -> str:
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def count_at(value: object, *path: str | int) -> int:
    return whole(value_at(value, *path))


def items_at(value: object, *path: str | int) -> Iterator[object]:
    found = value_at(value, *path)
    return iter(found if isinstance(found, list) else ())


def parsed(text: bytes | str) -> object:
    """The JSON value, or None. Deep nesting and a number of many digits are no value either."""
    try:
        return json.loads(text, parse_int=_short)
    except (ValueError, RecursionError):
        return None


def _short(digits: str) -> int:
    """Python takes the square of the time for twice the digits."""
    if len(digits) > MOST_DIGITS:
        raise ValueError("a number is too long")
    return int(digits)
