"""Finds files that are edited together, from the changes of the past.

Rules:
1. A change counts less the older it is, and less the more files it has.
2. A ratio of few is drawn towards that of the folder, the folder's towards that of the folder above, and so
   on up to how often the file is edited at all. So a file that is new, or was edited once, is expected to go
   with what its neighbours go with.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import dirname

from interlock.model.globs import is_literal, matches, stem
from interlock.model.history import PastCommit

HALF_LIFE = 150
"""Changes after which one counts half."""
USUAL_FILES = 6
"""A change of twice as many counts a quarter: it ties each of its files to each."""
DRAWN = 2.5
"""Changes' worth of doubt: what came together once is not yet likely enough to be held (0.3)."""
LOOKED_AT = 200
"""The latest changes near a path: older ones add little, and a bound on the work for each task."""
DEEPEST = 16
"""Folders above a path that are asked: a graph may name one of any depth."""
LEAST = 0.05
"""The least probability that is worth planning with."""


@dataclass(frozen=True, slots=True)
class _Rates:
    """Frequencies of edits in a set of changes, by file."""

    sums: Mapping[str, float]
    total: float
    above: "_Rates | None" = None
    likely: dict[str, float] = field(default_factory=dict)
    """Files that are likely enough to plan with."""

    def of(self, path: str, inner: "_Rates | None" = None) -> float:
        """The probability that a change edits the path; what `inner` has counted is not counted again."""
        edited, total = self.sums.get(path, 0.0), self.total
        if inner:
            edited, total = max(0.0, edited - inner.sums.get(path, 0.0)), max(0.0, total - inner.total)
        drawn = DRAWN * self.above.of(path, self) if self.above else 0.0
        return (edited + drawn) / (total + DRAWN)


class CoChange:
    """An index over changes, oldest first."""

    def __init__(self, changes: Sequence[PastCommit]) -> None:
        self._changes = [frozenset(change.paths) for change in changes]
        latest = len(changes) - 1
        self._weights = [
            0.5 ** ((latest - at) / HALF_LIFE) * min(1.0, USUAL_FILES / max(1, len(paths))) ** 2
            for at, paths in enumerate(self._changes)
        ]
        self._at: dict[str, list[int]] = defaultdict(list)
        self._below: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for at, paths in enumerate(self._changes):
            for path in paths:
                self._at[path].append(at)
        for path in self._at:
            folders = tuple(path.split("/"))
            for depth in range(len(folders)):
                self._below[folders[:depth]].append(path)
        self._touched: dict[str, frozenset[int]] = {}
        self._rates: dict[str, _Rates] = {"": self._counted(range(len(changes)), None)}

    def companions(self, glob: str) -> Iterable[tuple[str, float]]:
        """Return the files that a glob means and those edited with them, each with its probability."""
        return self._of(glob).likely.items()

    def together(self, glob: str, path: str) -> tuple[int, int]:
        """Count the changes that touched a glob and a path, and those that touched the glob."""
        touched = self._touching(glob)
        return len(touched.intersection(self._at.get(path, ()))), len(touched)

    def _of(self, glob: str) -> _Rates:
        """Return the rates of a path, drawn towards those of its folder."""
        if glob not in self._rates:
            self._rates[glob] = self._counted(self._latest(glob), self._around(folder_of(glob)))
        return self._rates[glob]

    def _around(self, folder: str) -> _Rates:
        """Return the rates of everything in a folder, drawn towards those of the folder above."""
        if folder not in self._rates:
            self._rates[folder] = self._counted(self._latest(folder), self._around(dirname(folder)))
        return self._rates[folder]

    def _counted(self, ats: Iterable[int], above: _Rates | None) -> _Rates:
        sums: dict[str, float] = defaultdict(float)
        total = 0.0
        for at in ats:
            total += self._weights[at]
            for path in self._changes[at]:
                sums[path] += self._weights[at]
        rates = _Rates(dict(sums), total, above)
        for path in {*sums, *(above.likely if above else ())}:
            if (rate := rates.of(path)) >= LEAST:
                rates.likely[path] = rate
        return rates

    def _latest(self, glob: str) -> list[int]:
        return sorted(self._touching(glob))[-LOOKED_AT:]

    def _touching(self, glob: str) -> frozenset[int]:
        if glob not in self._touched:
            self._touched[glob] = frozenset(at for file in self._files(glob) for at in self._at[file])
        return self._touched[glob]

    def _files(self, glob: str) -> Sequence[str]:
        """The files of the past that a glob means."""
        if glob in self._at:
            return (glob,)
        folders = stem(glob)
        below = self._below.get(folders, ())
        is_all = is_literal(glob) or glob.rstrip("/") == "/".join((*folders, "**"))
        return below if is_all else [path for path in below if matches(glob, path)]


def folder_of(glob: str) -> str:
    """The folder that speaks for a path of which nothing is known; of a folder the one above."""
    return "/".join(stem(glob)[:-1][:DEEPEST])
