"""Finds what a landed change has and a failed one had not, by their diffs.

The two changes were made from different commits of main, so they are compared with each other and not their
trees: what others landed in between is in neither.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

EXCERPT_CHARS = 1_500
LINE_CHARS = 200
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")

Edits = dict[str, list[str]]
"""The lines a change adds and takes away, each with its sign, by path."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The difference between two changes."""

    paths: tuple[str, ...]
    """Files in which they differ; those first that only the one that landed touches."""
    excerpt: str


def difference(failed: str, landed: str) -> Fix | None:
    """Return the difference of the two changes, as far as diffs can tell; None if they are the same."""
    before, after = edits(failed), edits(landed)
    parts = {
        path: (
            _more(after.get(path, []), before.get(path, [])),
            _more(before.get(path, []), after.get(path, [])),
        )
        for path in {**after, **before}
    }
    differing = {path: both for path, both in parts.items() if any(both)}
    if not differing:
        return None
    # A file that only one of them touches tells most; then the smaller difference, which is easier to copy.
    order = sorted(differing, key=lambda path: (path in before, sum(map(len, differing[path])), path))
    return Fix(tuple(order), _excerpt((path, *differing[path]) for path in order))


def edits(diff: str) -> Edits:
    """A diff as git prints it, without its context."""
    found: Edits = {}
    path, old, new = "", 0, 0
    for line in diff.splitlines():
        if old > 0 or new > 0:
            if line.startswith(("+", "-")):
                found.setdefault(path, []).append(line)
            old -= not line.startswith(("+", "\\"))
            new -= not line.startswith(("-", "\\"))
        elif line.startswith(("--- a/", "+++ b/")):
            path = line[6:].rstrip("\t")
        elif hunk := _HUNK.match(line):
            old, new = (int(count or 1) for count in hunk.groups())
    return found


def _more(lines: list[str], other: list[str]) -> list[str]:
    """The lines that the other change has not, in order; blank ones tell nothing."""
    left = Counter(other)
    kept = []
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        elif line[1:].strip():
            kept.append(line)
    return kept


def _excerpt(parts: Iterator[tuple[str, list[str], list[str]]]) -> str:
    lines: list[str] = []
    for path, landed, failed in parts:
        lines += [f"{path}, in what landed:", *landed] if landed else []
        lines += [f"{path}, in what failed instead:", *failed] if failed else []
    text = "\n".join(line[:LINE_CHARS] for line in lines)
    return text if len(text) <= EXCERPT_CHARS else f"{text[:EXCERPT_CHARS]}\n[cut]"
