"""The results of `doctor`: a finding for each thing that it examines."""

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """The result of one examination."""

    OK = "ok"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the report."""

    name: str
    health: Health
    text: str
    fix: str = ""
    detail: tuple[str, ...] = ()
    """More lines: the end of an output, or names."""


def good(name: str, text: str, fix: str = "") -> Finding:
    return Finding(name, Health.OK, text, fix)


def warning(name: str, text: str, fix: str = "", detail: tuple[str, ...] = ()) -> Finding:
    return Finding(name, Health.WARNING, text, fix, detail)


def bad(name: str, text: str, fix: str = "", detail: tuple[str, ...] = ()) -> Finding:
    return Finding(name, Health.BAD, text, fix, detail)
