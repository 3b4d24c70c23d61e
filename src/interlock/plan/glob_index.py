"""Which of many globs overlap, without comparing each with each.

Two globs can overlap only if the folders that one names before its first wildcard are the beginning of those
of the other. So a glob is compared with those filed under the folders it passes through, and no others.
"""

from collections.abc import Iterable

from interlock.model.globs import overlap, stem

COMPARISONS = 50_000
"""Globs that begin with a wildcard are not told apart by folder; of thousands some overlaps are missed."""


class GlobIndex:
    """The overlaps between the globs it is made of."""

    def __init__(self, globs: Iterable[str]) -> None:
        self.is_complete = True
        self._left = COMPARISONS
        self._filed: dict[tuple[str, ...], list[str]] = {}
        self._near: dict[str, list[str]] = {}
        # Short beginnings first: whatever a glob can overlap is then filed above it or beside it.
        for glob in sorted(set(globs), key=lambda glob: (len(stem(glob)), glob)):
            self._file(glob)

    def near(self, glob: str) -> list[str]:
        """The globs that overlap it, itself among them."""
        return self._near[glob]

    def _file(self, glob: str) -> None:
        folders = stem(glob)
        self._near[glob] = [glob]
        for length in range(len(folders) + 1):
            for other in self._filed.get(folders[:length], ()):
                if self._overlap(glob, other):
                    self._near[glob].append(other)
                    self._near[other].append(glob)
        self._filed.setdefault(folders, []).append(glob)

    def _overlap(self, a: str, b: str) -> bool:
        self._left -= 1
        if self._left < 0:
            self.is_complete = False
            return False
        return overlap(a, b)
