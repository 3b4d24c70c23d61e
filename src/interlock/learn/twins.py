"""Files that belong together by their names: a module and its tests.

A name tells about files that have no past yet. How much it tells is counted in the changes of the project,
for each direction by itself: a module may be edited without its tests more often than the other way round.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from posixpath import basename, dirname, splitext

from interlock.model.history import Change

_TEST = re.compile(r"^tests?[_-]|[._-](?:tests?|spec)$|(?<=[a-z0-9])Tests?$")
"""`test_cart.py`, `cart_test.go`, `cart.spec.ts` and `CartTest.java` are the tests of a cart."""
DOUBT = 2.0
"""Changes' worth, against what was counted."""
GUESS = 0.3
"""Before anything was."""
COUNTED = 200
"""The latest changes."""


class Twins:
    """An index over files by the name that a module and its tests share."""

    def __init__(self, files: Iterable[str], changes: Sequence[Change]) -> None:
        self._called: dict[tuple[str, bool], list[str]] = defaultdict(list)
        for path in files:
            self._called[_name(path)].append(path)
        self._seen: dict[bool, tuple[int, int]] = {False: (0, 0), True: (0, 0)}
        for change in changes[-COUNTED:]:
            self._count(frozenset(change.paths))

    def of(self, path: str) -> str | None:
        """The tests of a module, or the module of tests, if there is one file that is meant."""
        name, is_test = _name(path)
        folders = set(dirname(path).split("/"))
        near = [
            (len(folders.intersection(dirname(other).split("/"))), other)
            for other in self._called.get((name, not is_test), ())
        ]
        most = max(near, default=(0, ""))[0]
        meant = [other for count, other in near if count == most]
        return meant[0] if len(meant) == 1 else None

    def seen(self, path: str) -> tuple[int, int]:
        """How often the other one was edited too, and of how many times, in all pairs of this direction."""
        return self._seen[_name(path)[1]]

    def probability(self, path: str) -> float:
        """That the twin of a file is edited when the file is."""
        both, of = self.seen(path)
        return (both + DOUBT * GUESS) / (of + DOUBT)

    def _count(self, paths: frozenset[str]) -> None:
        for path in paths:
            if (twin := self.of(path)) is not None:
                is_test = _name(path)[1]
                both, of = self._seen[is_test]
                self._seen[is_test] = (both + (twin in paths), of + 1)


def _name(path: str) -> tuple[str, bool]:
    """What both are called, and whether these are the tests."""
    word, kind = splitext(basename(path))
    plain = _TEST.sub("", word)
    return plain.lower().replace("-", "_") + kind, plain != word
