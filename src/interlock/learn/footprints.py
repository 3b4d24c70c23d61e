"""Forecasts where a task will edit: the declared paths, else those that its goal names.

Rules:
1. Nothing here is a cage: a path that is missing may be edited, and one that is listed may not.
2. What a task declares is the forecast. Habits of the history say less than that: see docs/why/footprints.md.
   Beside it stands only what an earlier attempt of the same task edited.
3. Where nothing is declared there are guesses: paths that the goal names, and files that past commits changed
   together with these. The surest answer for a path counts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from interlock.events.state import TaskState
from interlock.model.forecast import Chance, Forecast
from interlock.model.history import BranchHistory
from interlock.model.reason import Reason, Value, Why
from interlock.model.task import Task

DECLARED = 0.9
"""Nine of ten declared paths are edited."""
TOUCHED = 0.85
"""An attempt edits again most of what the one before it did."""
PATH = 0.7
"""A path that stands in the goal in full is most often edited, and sometimes an example."""
NAME = 0.5
"""The name of a file, or the end of its path."""
MEANT_MOST = 3
"""A name that more files have than this says nothing."""
DOUBT = 2.5
"""Commits' worth: what came together once is not yet likely enough to be held (0.3)."""
LOOKED_AT = 200
"""The latest commits that touched a path: older ones add little, and a bound on the work for each task."""
DEEPEST = 16
"""Folders above a file that count: a commit may hold a path of any depth."""
LARGE = 20
"""A commit of more files ties none of them to each other."""
LEAST = 0.05
"""The least probability that is worth planning with."""
LISTED_MOST = 24
"""Paths of one forecast, beside the declared ones. Others are too unlikely to plan with."""
A_LITTLE = 0.1
"""A probability that moves by less than this is no news."""

_WORD = re.compile(r"[\w./-]+")


class Footprints:
    """Forecasts for the tasks of one project, from the history of its branch.

    A plan has many tasks and few places: what depends on the places alone is worked out once for each.
    """

    def __init__(self, past: BranchHistory) -> None:
        self._files = past.files
        self._commits = [commit.paths for commit in past.changes if len(commit.paths) <= LARGE]
        self._touching: dict[str, list[int]] = defaultdict(list)
        """The commits that touched a file, or a file in a folder."""
        for at, paths in enumerate(self._commits):
            for place in {place for path in paths for place in (path, *_folders(path))}:
                self._touching[place].append(at)
        self._guesses: dict[str, tuple[Chance, ...]] = {}

    def of(self, task: TaskState) -> tuple[Chance, ...]:
        """The paths it may edit, the likeliest first; declared ones before all others."""
        declared, found = declared_by(task.spec), list(_touched_before(task))
        if not declared:
            words = dict.fromkeys(_WORD.findall(task.spec.goal))
            found += [guess for word in words for guess in self._guessed(word)]
        surest = {one.path: one for one in sorted(found, key=lambda one: one.probability)}
        listed = (one for one in surest.values() if one.path not in declared and one.probability >= LEAST)
        return (
            *(Chance(glob, DECLARED, "declared", Reason(Why.TASK_SAYS)) for glob in declared),
            *sorted(listed, key=lambda one: (-one.probability, one.path))[:LISTED_MOST],
        )

    def _guessed(self, word: str) -> tuple[Chance, ...]:
        """Return what a word of a goal names, and what is edited with that."""
        if word not in self._guesses:
            meant = dict(self._meant(word))
            named = [
                Chance(path, chance, "mentioned", Reason(Why.GOAL_NAMES)) for path, chance in meant.items()
            ]
            self._guesses[word] = (*named, *(one for guess in named for one in self._companions(guess)))
        return self._guesses[word]

    def _meant(self, word: str) -> Iterator[tuple[str, float]]:
        name = word.strip("./-")
        if name in self._files:
            yield name, PATH
        elif "/" in word and any(path.startswith(f"{name}/") for path in self._files):
            yield f"{name}/**", PATH
        elif "." in name or "/" in name:
            meant = sorted(path for path in self._files if path.endswith(f"/{name}"))
            if len(meant) <= MEANT_MOST:
                yield from ((path, NAME / len(meant)) for path in meant)

    def _companions(self, guess: Chance) -> Iterator[Chance]:
        place = guess.path.removesuffix("/**")
        commits = self._touching.get(place, [])[-LOOKED_AT:]
        together = Counter(path for at in commits for path in self._commits[at])
        for path, count in together.items():
            if path != place and path in self._files:
                seen: dict[str, Value] = {"path": guess.path, "times": count, "commits": len(commits)}
                probability = guess.probability * count / (len(commits) + DOUBT)
                yield Chance(path, probability, "companion", Reason(Why.CHANGES_WITH, seen))


def _folders(path: str) -> list[str]:
    names = path.split("/")[:-1][:DEEPEST]
    return ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]


def declared_by(spec: Task) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*spec.touches, *spec.exclusive)))


def _touched_before(task: TaskState) -> Iterable[Chance]:
    if task.change.work is None or task.change.landed is not None:
        return ()
    why = Reason(Why.EDITED_BEFORE, {"attempt": task.change.work.attempt})
    return [Chance(path, TOUCHED, "touched", why) for path in task.change.work.touched]


def steady(new: tuple[Chance, ...], before: Forecast | None) -> tuple[Chance, ...]:
    """Return the earlier footprint, as long as the new one would change no decision."""
    if before is None or new == before.footprint:
        return new
    chances = {chance.path: chance.probability for chance in new}
    old = {chance.path: chance.probability for chance in before.footprint}
    moved = (abs(chances.get(path, 0.0) - old.get(path, 0.0)) for path in {*chances, *old})
    return before.footprint if max(moved, default=0.0) <= A_LITTLE else new
