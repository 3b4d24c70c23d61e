"""Pydantic's findings in plain words, each at its place in the file."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from interlock.model.nearest import suggest
from interlock.plan.parts import LeasePart, RoutePart
from interlock.plan.problem import Notes
from interlock.plan.schema import (
    CHECK_TAG,
    TEXT_TAG,
    AgentPart,
    CheckPart,
    GraphPart,
    TaskPart,
    TaskSettings,
)
from interlock.plan.yaml_text import Places

_NAMES: dict[type, str] = {
    type(None): "nothing",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping",
}
KEY = "[key]"
_NO_STEPS = (KEY, TEXT_TAG, CHECK_TAG)
"""Steps of pydantic that no file has."""

Path = tuple[str | int, ...]
Found = tuple[str, str]
"""A message and a hint."""


def note_all(errors: list[ErrorDetails], places: Places, notes: Notes) -> None:
    for error in errors:
        path = tuple(step for step in error["loc"] if step not in _NO_STEPS)
        about_key = error["loc"][-1:] == (KEY,) or error["type"] in ("extra_forbidden", "missing")
        message, hint = _PHRASES.get(error["type"], _unforeseen)(error, path)
        notes.add(places.of(path, at_key=about_key), message, hint)


def _name(path: Path) -> str:
    """The name of the value: the last key on the path to it."""
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "the file")


def _unknown_key(_: ErrorDetails, path: Path) -> Found:
    known = sorted(field.alias or name for name, field in _part_at(path[:-1]).model_fields.items())
    return f"unknown key `{path[-1]}`", suggest(str(path[-1]), known, f"the keys here are {', '.join(known)}")


def _part_at(path: Path) -> type[BaseModel]:
    parts: dict[object, type[BaseModel]] = {
        "tasks": TaskPart,
        "agents": AgentPart,
        "defaults": TaskSettings,
        "leases": LeasePart,
        "routes": RoutePart,
    }
    if path[:1] != ("routes",) and path[-1:] and isinstance(path[-1], int):
        return CheckPart
    return parts[path[0]] if path else GraphPart


def _missing(_: ErrorDetails, path: Path) -> Found:
    hints = {
        "goal": "add `goal:` with the work of the agent",
        "use": "add `use: command`",
        "run": "add `run: [program, argument]`",
        "version": "add `version: 1` at the top",
        "tasks": "add `tasks:` with one entry for each task",
        "try": "add `try: [agent]`",
        "inputs": "add `inputs: [folder/**]`, or write the command alone: it then sees all files",
    }
    where = f"`{_name(path[:-1])}` has no" if len(path) > 1 else "the file has no"
    return f"{where} `{path[-1]}`", hints[str(path[-1])]


def _expected(what: str, hint: Callable[[Any], str]) -> Callable[[ErrorDetails, Path], Found]:
    """A finding that the value is of another type. Any: the value is whatever the file says."""

    def phrase(error: ErrorDetails, path: Path) -> Found:
        value = error["input"]
        found = _NAMES.get(type(value), "something else")
        if value is None:
            return (
                f"`{_name(path)}` has no value: expected {what}",
                "write a value after the colon, or remove the key",
            )
        return f"`{_name(path)}` is {found}: expected {what}", hint(value)

    return phrase


def _quote(value: object) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, list | dict):
        return "write one text here, in quotes if it contains `: ` or brackets"
    return f'put it in quotes: "{value}"'


def _bracket(value: object) -> str:
    return f"write a list: [{value}]" if isinstance(value, str) else "write a list: [first, second]"


def _bad_pattern(error: ErrorDetails, path: Path) -> Found:
    value = error["input"]
    if path[:1] in (("tasks",), ("agents",)) and len(path) == 2:
        kind = "a task id" if path[0] == "tasks" else "an agent name"
        rule = "use up to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit"
        return f"`{value}` is not {kind}", rule
    if "env" in path:
        return f"`{value}` is not a name for an environment variable", "use letters, digits and `_`"
    return f"`{_name(path)}` must be one line", "remove the line breaks"


def _too_short(_: ErrorDetails, path: Path) -> Found:
    return f"`{_name(path)}` is empty", "write something here, or remove it"


def _out_of_range(error: ErrorDetails, path: Path) -> Found:
    limits = error["ctx"]
    bound = f"at least {limits['ge']}" if "ge" in limits else f"at most {limits['le']}"
    return f"`{_name(path)}` must be {bound}", "3 is the default; 0 means one attempt only"


def _bad_choice(error: ErrorDetails, path: Path) -> Found:
    expected = error["ctx"]["expected"].strip("'")
    return f"`{_name(path)}` must be {expected}", f"write `{_name(path)}: {expected}`"


def _in_our_words(error: ErrorDetails, _: Path) -> Found:
    return error["ctx"]["message"], error["ctx"]["hint"]


def _unforeseen(error: ErrorDetails, path: Path) -> Found:
    return f"`{_name(path)}`: {error['msg']}", "see docs/reference/task-graph.md for what is allowed here"


_MAPPING = _expected("a mapping", lambda _: "write `key: value` lines, indented below it")
_PHRASES: dict[str, Callable[[ErrorDetails, Path], Found]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "string_type": _expected("text", _quote),
    "list_type": _expected("a list", _bracket),
    "int_type": _expected("a whole number", lambda _: "write a whole number, without quotes"),
    "int_from_float": _expected("a whole number", lambda _: "write a whole number"),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "string_pattern_mismatch": _bad_pattern,
    "string_too_short": _too_short,
    "too_short": _too_short,
    "greater_than_equal": _out_of_range,
    "less_than_equal": _out_of_range,
    "literal_error": _bad_choice,
    "interlock": _in_our_words,
}
