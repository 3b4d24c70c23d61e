"""Which files are edited together, from the changes of the past.

Rules:
1. A change counts by how much of what was asked for it touched, less the older it is, and less the more files
   it has.
2. A ratio of few is drawn towards how often the file is edited at all.
3. What happened once may be chance: a companion needs to have been there `SUPPORT` times.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from interlock.model.globs import is_literal, matches, stem
from interlock.model.history import Change

HALF_LIFE = 150
"""Changes after which one counts half."""
USUAL_FILES = 6
"""A change of twice as many counts a quarter: it ties each of its files to each."""
DRAWN = 2.0
"""Changes' worth of doubt."""
SUPPORT = 3
LOOKED_AT = 200
"""The latest changes near a task: older ones add little, and a bound on the work for each task."""


@dataclass(frozen=True, slots=True)
class Companion:
    """A file, and how often it was edited when others were."""

    path: str
    probability: float


@dataclass(frozen=True, slots=True)
class Near:
    """The changes that touched some paths."""

    companions: tuple[Companion, ...]
    """What else they touched, and which of those paths, the likeliest first."""
    shares: dict[int, float]
    """How much each of the changes counts (rule 1)."""


class CoChange:
    """An index over changes, oldest first."""

    def __init__(self, changes: Sequence[Change]) -> None:
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
        self._usual = self._how_often()
        self._near: dict[tuple[str, ...], Near] = {}
        self._touched: dict[str, frozenset[int]] = {}
        self._elsewhere: dict[str, float] = {}

    def near(self, globs: Iterable[str]) -> Near:
        """The changes that touched any of these, and everything that they touched."""
        key = tuple(sorted(set(globs)))
        if key not in self._near:
            self._near[key] = self._look(key)
        return self._near[key]

    def together(self, glob: str, path: str) -> tuple[int, int]:
        """How many of the changes that touched a glob touched a path as well, and of how many."""
        touched = self._touching(glob)
        return len(touched.intersection(self._at.get(path, ()))), len(touched)

    def elsewhere(self, glob: str) -> float:
        """The share of the changes there, counted as in rule 1, that touched a file for the only time."""
        if glob not in self._elsewhere:
            self._elsewhere[glob] = self._outside_habits(glob)
        return self._elsewhere[glob]

    def _how_often(self) -> dict[str, float]:
        total = sum(self._weights) or 1.0
        return {path: sum(self._weights[at] for at in ats) / total for path, ats in self._at.items()}

    def _look(self, globs: tuple[str, ...]) -> Near:
        hit = Counter(chain.from_iterable(map(self._touching, globs)))
        latest = sorted(hit)[-LOOKED_AT:]
        share = {at: self._weights[at] * hit[at] / len(globs) for at in latest}
        seen = Counter(chain.from_iterable(self._changes[at] for at in latest))
        sums: dict[str, float] = defaultdict(float)
        for at, counts in share.items():
            for path in self._changes[at]:
                sums[path] += counts
        total = sum(share.values())
        companions = [
            Companion(path, (sums[path] + DRAWN * self._usual[path]) / (total + DRAWN))
            for path, count in seen.items()
            if count >= SUPPORT
        ]
        companions.sort(key=lambda one: (-one.probability, one.path))
        return Near(tuple(companions), share)

    def _outside_habits(self, glob: str) -> float:
        shares = self.near((glob,)).shares
        seen = Counter(chain.from_iterable(self._changes[at] for at in shares))
        rare = {file for file in self._files(glob) if seen[file] < SUPPORT}
        alone = sum(share for at, share in shares.items() if not rare.isdisjoint(self._changes[at]))
        return (alone + DRAWN) / (sum(shares.values()) + DRAWN)

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
