"""Limits for the numbers and object ids of a fact. They hold for what is written, and again for what is
read: a log of an older version, or one that a forged line went into, may hold anything.

Rules:
1. No number is less than 0 or more than `MOST`, except those that say so here.
2. A number beyond a limit becomes the limit. The fact still counts.
3. What does not name an object of git names none: commits and trees become words of git commands.
"""

import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from interlock.events.facts import Fact
from interlock.model.numbers import MOST, bounded
from interlock.model.reason import Reason, Value
from interlock.model.task import Commit, Tree

AGENTS = 10_000
"""More are never at work at once. The clutch looks at each number up to the largest."""
_RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("exit_code", "x", "y", "xy"), (-MOST, MOST)),
    "lines": (-1, MOST),
    **dict.fromkeys(("probability", "success"), (0, 1)),
    **dict.fromkeys(("limit", "goodput", "max_parallel", "slots", "lane_depth"), (0, AGENTS)),
}
REASONS = 8
"""The most reasons, each behind the one before."""
_OBJECT = re.compile(r"(?!-)[\w./-]*", re.ASCII)
"""An object of git, as the fakes of tests name them too; never an option of git, or words."""

# Any: a value of any type that a field of a fact has.
Mend = Callable[[Any], Any]


def within_limits(fact: Fact) -> Fact:
    """The fact with every number inside its limits; the very same one if they are."""
    hint: object = type(fact)
    mend = _mend_for(hint)
    return mend(fact) if mend else fact


@cache
def _mend_for(hint: object, name: str = "") -> Mend | None:
    """Return the function that bounds values of this type; None: it holds no number."""
    if hint in (Commit, Tree, Reason):
        return _reason if hint is Reason else _named_object
    if hasattr(hint, "__supertype__"):
        return _mend_for(hint.__supertype__, name)
    if hint in (int, float):
        return _number(*_RANGES.get(name, (0, MOST)))
    if isinstance(hint, type) and is_dataclass(hint):
        return _object(hint)
    given = typing.get_args(hint)
    match typing.get_origin(hint):
        case typing.Union | types.UnionType:
            return _optional([_mend_for(each, name) for each in given])
        case origin if origin in (tuple, list):
            return _sequence(origin, _mend_for(given[0], name))
        case origin if origin is dict:
            return _mapping(_mend_for(given[0], name), _mend_for(given[1], name))
        case _:
            return None


def _number(least: float, most: float) -> Mend:
    return lambda value: value if least <= value <= most else type(value)(bounded(value, least, most))


def _named_object(value: str) -> str:
    return value if _OBJECT.fullmatch(value) else type(value)()


def _reason(value: Reason, depth: int = 1) -> Reason:
    """Bound the numbers of a reason, and the reasons behind it: a log may hold them without end."""
    kept: dict[str, Value] = {}
    is_same = True
    for name, each in value.fields.items():
        if isinstance(each, Reason):
            if depth == REASONS:
                is_same = False
                continue
            kept[name] = _reason(each, depth + 1)
        elif isinstance(each, (int, float)) and not -MOST <= each <= MOST:
            kept[name] = type(each)(bounded(each, -MOST, MOST))
        else:
            kept[name] = each
        is_same = is_same and kept[name] is each
    return value if is_same else replace(value, fields=kept)


def _object(kind: type) -> Mend | None:
    hints = typing.get_type_hints(kind)
    found = {each.name: _mend_for(hints[each.name], each.name) for each in fields(kind)}
    mends = {name: mend for name, mend in found.items() if mend}
    if not mends:
        return None

    def mend_object(value: Any) -> Any:  # Any: an instance of `kind`
        changed = {}
        for name, mend in mends.items():
            before = getattr(value, name)
            if (after := mend(before)) is not before:
                changed[name] = after
        return replace(value, **changed) if changed else value

    return mend_object


def _optional(mends: list[Mend | None]) -> Mend | None:
    """Return the function for `X | None`; a fact has no other union with numbers in it."""
    mend = next((each for each in mends if each), None)
    return (lambda value: None if value is None else mend(value)) if mend else None


def _sequence(kind: type, mend: Mend | None) -> Mend | None:
    return (lambda value: _changed(value, kind(map(mend, value)))) if mend else None


def _mapping(key: Mend | None, mend: Mend | None) -> Mend | None:
    if mend is None:
        return None
    name = key or (lambda value: value)
    return lambda value: _changed(value, {name(each): mend(value[each]) for each in value})


def _changed(before: Any, after: Any) -> Any:  # Any: a tuple, a list or a dict
    return before if after == before else after
