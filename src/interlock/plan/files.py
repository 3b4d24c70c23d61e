"""Which globs mean no file at all."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import islice

from interlock.model.globs import matches, stem

MATCHES = 200_000
"""Comparisons of a glob with a path. Beyond it nothing is called empty: a warning is worth no wait."""


class FileIndex:
    """The repository's files, sorted, so that a glob is compared only with those below its first folders."""

    def __init__(self, files: Collection[str]) -> None:
        self._files: Sequence[str] = sorted(files)
        self._known: dict[str, bool] = {}
        self._left = MATCHES

    def is_empty(self, glob: str) -> bool:
        """Does it match no file, as far as we care to look."""
        if glob not in self._known:
            self._known[glob] = not self._matches_any(glob)
        return self._known[glob]

    def _matches_any(self, glob: str) -> bool:
        prefix = "/".join(stem(glob))
        start = bisect_left(self._files, prefix)
        for path in islice(self._files, start, None):
            if not path.startswith(prefix):
                return False
            self._left -= 1
            if self._left < 0 or matches(glob, path):
                return True
        return False
