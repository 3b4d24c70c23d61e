"""A problem in a task graph: its place, the reason, the line with a caret, and a hint."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from interlock.model.errors import GraphError

EXCERPT_WIDTH = 100
"""Flow style makes long lines; this much of one around the caret is enough to find it."""

_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Severity(StrEnum):
    """Must it be repaired before anything runs."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A position in the file, counted from 1 as editors do."""

    line: int
    col: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. Its text is safe to show on a terminal."""

    source: str
    line: int
    col: int
    message: str
    hint: str
    excerpt: str = ""
    """The line it is in, and a caret below."""
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        parts = [f"{self.source}:{self.line}:{self.col}: {self.severity}: {self.message}", self.excerpt]
        return "\n".join([part for part in parts if part] + [f"hint: {self.hint}"])


class GraphProblems(GraphError):
    """The graph cannot be accepted, for all of these reasons."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, problems)), problems[0].hint)


class Notes:
    """Collects problems, one for each place: what is said first about a place is the cause of the rest."""

    def __init__(self, source: str, lines: Sequence[str]) -> None:
        self._source = source
        self._lines = lines
        self._found: dict[tuple[Severity, Position], Problem] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Position, message: str, hint: str, severity: Severity = Severity.ERROR) -> None:
        """Note a problem, unless its place has one already."""
        excerpt = self._excerpt(place)
        problem = Problem(
            self._source, place.line, place.col, printable(message), printable(hint), excerpt, severity
        )
        self._found.setdefault((severity, place), problem)

    def warn(self, place: Position, message: str, hint: str) -> None:
        self.add(place, message, hint, Severity.WARNING)

    def sorted(self, severity: Severity) -> tuple[Problem, ...]:
        found = [key for key in self._found if key[0] is severity]
        return tuple(self._found[key] for key in sorted(found, key=lambda key: key[1]))

    def refuse_errors(self) -> None:
        if errors := self.sorted(Severity.ERROR):
            raise GraphProblems(errors)

    def _excerpt(self, place: Position) -> str:
        if place.line > len(self._lines):
            return ""
        line, caret = self._lines[place.line - 1], place.col - 1
        start = max(0, caret - EXCERPT_WIDTH // 2) if len(line) > EXCERPT_WIDTH else 0
        text = _UNPRINTABLE.sub("?" if "\t" not in line else " ", line[start : start + EXCERPT_WIDTH])
        number = f"{place.line:>5} | "
        return f"{number}{text}\n{' ' * (len(number) - 2)}| {' ' * (caret - start)}^"


def printable(text: str) -> str:
    """The text with everything that could steer a terminal spelled out."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
