"""Find the globs that overlap, without comparing each with each.

Two globs can overlap only if the folders that one names before its first wildcard are the beginning of those
of the other. So a glob is compared with those filed under the folders it passes through, and no others.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from interlock.model.globs import overlap, stem

EFFORT = 1_000_000
"""The limit on comparisons. Among thousands of globs that begin with wildcards some overlaps are missed."""
OVERLAP_EFFORT = 30
"""Comparing two globs takes as long as so many looks at how they begin."""


_WILDCARD = re.compile(r"[*?\[\]]")


@lru_cache(maxsize=65536)
def _plain_start(glob: str) -> str:
    """The fixed start of every path that it matches, up to the first wildcard."""
    text = "/".join(segment for segment in glob.split("/") if segment not in ("", "."))
    return _WILDCARD.split(text, maxsplit=1)[0].rstrip("/")  # `a/**` also means `a`


class GlobIndex:
    """The overlaps between the globs it is made of."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._left = EFFORT
        self._filed: dict[tuple[str, ...], list[str]] = {}
        self._near: dict[str, list[str]] = {}
        # Few folders first: whatever a glob can overlap is then filed above it or beside it.
        for glob in sorted(set(globs), key=lambda glob: (len(stem(glob)), glob)):
            self._file(glob)

    @property
    def is_complete(self) -> bool:
        return self._left >= 0

    def near(self, glob: str) -> list[str]:
        """The globs that overlap it, itself among them."""
        return self._near[glob]

    def _file(self, glob: str) -> None:
        folders = stem(glob)
        self._near[glob] = [glob]
        for length in range(len(folders) + 1):
            self._compare(glob, self._filed.get(folders[:length], ()))
        self._filed.setdefault(folders, []).append(glob)

    def _compare(self, glob: str, others: Iterable[str]) -> None:
        start = _plain_start(glob)
        for other in others:
            if self._left < 0:
                return
            self._left -= 1
            other_start = _plain_start(other)
            if not (start.startswith(other_start) or other_start.startswith(start)):
                continue
            self._left -= OVERLAP_EFFORT
            if overlap(glob, other):
                self._near[glob].append(other)
                self._near[other].append(glob)
