"""Find globs that match no file."""

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache

from interlock.model.globs import matches

EFFORT = 2_000_000
"""The limit on matching for one graph. Beyond it no glob is reported: a warning is worth no wait."""
MATCH_EFFORT = 20
"""Matching a glob takes as long as so many looks at the end of a path."""

_WILDCARD = re.compile(r"[*?\[\]]")


@lru_cache(maxsize=65536)
def plain_start(glob: str) -> str:
    """The fixed start of every path that it matches, up to the first wildcard."""
    text = "/".join(segment for segment in glob.split("/") if segment not in ("", "."))
    return _WILDCARD.split(text, maxsplit=1)[0].rstrip("/")  # `a/**` also means `a`


def plain_end(glob: str) -> str:
    """The fixed end of every path that it matches."""
    if glob.endswith("/") or not _WILDCARD.search(glob):
        return ""  # it also means everything below
    return _WILDCARD.split(glob)[-1].rpartition("/")[2]


class FileIndex:
    """The repository's files, sorted, so that a glob is compared only with those that begin like it."""

    def __init__(self, files: Collection[str]) -> None:
        self._files: Sequence[str] = sorted(files)
        self._known: dict[str, bool] = {}
        self._left = EFFORT

    def is_empty(self, glob: str) -> bool:
        """True if it matches no file, within the limit."""
        if glob not in self._known:
            self._known[glob] = not self._matches_any(glob)
        return self._known[glob]

    def _matches_any(self, glob: str) -> bool:
        start, end = plain_start(glob), plain_end(glob)
        for number in range(bisect_left(self._files, start), len(self._files)):
            path = self._files[number]
            if not path.startswith(start):
                return False
            self._left -= 1
            if path.endswith(end):
                self._left -= MATCH_EFFORT
                if matches(glob, path):
                    return True
            if self._left < 0:
                return True
        return False
