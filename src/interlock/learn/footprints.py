"""Where a task will edit, from what it declares, what attempts touched, and what is edited together.

Rules:
1. Nothing here is a cage: a path that is missing may be edited, and one that is listed may not.
2. What is declared is always listed. Of a declared folder the files that are edited often stand on their own,
   so that two tasks in one folder need not be taken for two tasks in one file; the folder itself then stands
   for the rest of it.
3. A companion lies outside of what is declared. Its reason is a count that anybody can repeat with `git log`.
4. Each source is asked by itself, and the surest answer for a path counts. They see the same habits, and
   adding them up would count those twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest

from interlock.events.state import State, TaskState
from interlock.learn.cochange import LEAST, CoChange, folder_of
from interlock.learn.likeness import Done, Likeness
from interlock.learn.mentions import Mentions
from interlock.learn.twins import Twins
from interlock.model.forecast import Chance, Forecast
from interlock.model.globs import is_literal, matches
from interlock.model.history import Past
from interlock.model.task import Task

LISTED_MOST = 24
"""Paths of one forecast, beside the declared ones. Others are too unlikely to plan with."""
TOUCHED = 0.85
"""An attempt edits again most of what the one before it did."""
DOUBT = 1.5
"""Tasks' worth, against what similar tasks touched."""
REMEMBERED = 100
"""The latest tasks that others are compared with."""
ANCHORS_MOST = 6
"""Guesses whose companions are asked for, where nothing is declared."""
A_LITTLE = 0.1
"""A probability that moves by less than this is no news."""
SURE, UNSURE = 9.0, 1.0
"""Before anything is known: nine of ten declared paths are edited."""


class Footprints:
    """Forecasts for the tasks of one project, from its past and its log.

    A plan has many tasks and few places: what depends on the places alone is worked out once for each.
    """

    def __init__(self, past: Past, state: State) -> None:
        self._cochange = CoChange(past.changes)
        self._mentions = Mentions(past.files)
        self._twins = Twins(past.files or self._cochange.files, past.changes)
        self._files = past.files
        worked_on = sorted(
            (t for t in state.tasks.values() if t.work), key=lambda t: t.work.seq if t.work else 0
        )
        done = [Done(task.spec, task.work.touched) for task in worked_on[-REMEMBERED:] if task.work]
        self._alike = Likeness(done)
        self._kept_word = _share_of_declared(done)
        self._with: dict[tuple[str, ...], tuple[Chance, ...]] = {}
        self._inside: dict[tuple[str, str], bool] = {}

    def of(self, task: TaskState) -> tuple[Chance, ...]:
        """The paths it may edit, the likeliest first; declared ones before all others."""
        declared = tuple(dict.fromkeys((*task.spec.touches, *task.spec.exclusive)))
        found = list(self._known(task, declared))
        if declared:
            found += self._companions(declared)
        else:
            found += [one for guess in _surest(found)[:ANCHORS_MOST] for one in self._companions_of(guess)]
        listed = _surest(one for one in _best(found) if one.path not in declared)
        return (*self._declared(declared, listed), *listed)

    def _known(self, task: TaskState, declared: Sequence[str]) -> Iterator[Chance]:
        """What this task, others like it, and its own words say."""
        if task.work and task.landed is None:
            why = f"attempt {task.work.attempt} edited it"
            yield from (Chance(path, TOUCHED, "touched", why) for path in task.work.touched)
        yield from self._similar(task.spec)
        for path, probability in self._mentions.of(task.spec.goal).items():
            # A word may mean many things. With declared paths at hand only a path in full counts.
            if not declared or path.removesuffix("/**") in task.spec.goal:
                yield Chance(path, probability, "mentioned", "the goal names it")

    def _similar(self, spec: Task) -> Iterator[Chance]:
        alike = self._alike.to(spec)
        total = sum(share for share, _ in alike)
        sums: dict[str, float] = {}
        for share, done in alike:
            for path in done.touched:
                sums[path] = sums.get(path, 0.0) + share
        for path, found in sums.items():
            if found / (total + DOUBT) >= LEAST:
                there = [done.spec.id for _, done in alike if path in done.touched]
                why = f"{len(there)} of {len(alike)} similar tasks edited it, like {there[-1]}"
                yield Chance(path, found / (total + DOUBT), "similar", why)

    def _companions(self, declared: tuple[str, ...]) -> tuple[Chance, ...]:
        """What changes with them, and which files of the declared folders change most."""
        if declared not in self._with:
            self._with[declared] = tuple(_surest(_best(self._together(declared))))
        return self._with[declared]

    def _companions_of(self, guess: Chance) -> Iterator[Chance]:
        """What changes with a guess is less sure than the guess."""
        for one in self._companions((guess.path,)):
            if one.probability * guess.probability < LEAST:
                return
            yield Chance(one.path, one.probability * guess.probability, one.source, one.why)

    def _together(self, globs: Sequence[str]) -> Iterator[Chance]:
        others = (
            (probability, path)
            for path, probability in self._cochange.companions(globs)
            if path not in globs and self._is_there(path)
        )
        for probability, path in nlargest(LISTED_MOST, others):
            source = "history" if self._is_among(globs, path) else "companion"
            yield Chance(path, min(0.99, probability), source, self._counted(globs, path))
        for glob in globs:
            twin = self._twins.of(glob)
            if twin and not self._is_among(globs, twin) and self._is_there(twin):
                both, of = self._twins.seen(glob)
                why = f"named like {glob}; such pairs change together {both} of {of} times"
                yield Chance(twin, self._twins.probability(glob), "companion", why)

    def _is_there(self, path: str) -> bool:
        return not self._files or path in self._files

    def _is_among(self, globs: Sequence[str], path: str) -> bool:
        return any(self._is_inside(glob, path) for glob in globs)

    def _counted(self, globs: Sequence[str], path: str) -> str:
        """The count that speaks loudest; where the paths have none, that of the folders they are in."""
        places = tuple(globs)
        while True:
            counts = ((*self._cochange.together(place, path), place) for place in places)
            together, of, place = max(counts, key=lambda count: ((count[0] + 1) / (count[1] + 2), count[0]))
            if place == "":
                return f"in {together} of all {of} commits"
            if together:
                return f"changes with {place} in {together} of {of} commits"
            places = tuple(dict.fromkeys(map(folder_of, places)))

    def _declared(self, declared: Sequence[str], listed: Sequence[Chance]) -> Iterator[Chance]:
        for glob in declared:
            probability, why = self._kept_word, "the task says so"
            if not is_literal(glob) and any(self._is_inside(glob, chance.path) for chance in listed):
                probability *= self._cochange.news(glob)
                why = "the task says so; beside the files listed there"
            yield Chance(glob, round(probability, 4), "declared", why)

    def _is_inside(self, glob: str, path: str) -> bool:
        pair = (glob, path)
        if pair not in self._inside:
            self._inside[pair] = matches(glob, path)
        return self._inside[pair]


def _share_of_declared(done: Sequence[Done]) -> float:
    """How many of the paths that tasks declared they really edited."""
    edited = [any(matches(glob, path) for path in one.touched) for one in done for glob in one.spec.touches]
    return (sum(edited) + SURE) / (len(edited) + SURE + UNSURE)


def steady(new: tuple[Chance, ...], before: Forecast | None) -> tuple[Chance, ...]:
    """The footprint of the forecast before, as long as nobody would decide otherwise by the new one."""
    if before is None or new == before.footprint:
        return new
    chances = {chance.path: chance.probability for chance in new}
    old = {chance.path: chance.probability for chance in before.footprint}
    moved = (abs(chances.get(path, 0.0) - old.get(path, 0.0)) for path in {*chances, *old})
    return before.footprint if max(moved, default=0.0) <= A_LITTLE else new


def _best(chances: Iterable[Chance]) -> Iterable[Chance]:
    """Each path once, by its surest answer."""
    return {one.path: one for one in sorted(chances, key=lambda one: one.probability)}.values()


def _surest(chances: Iterable[Chance]) -> list[Chance]:
    likely = [chance for chance in chances if chance.probability >= LEAST]
    return sorted(likely, key=lambda chance: (-chance.probability, chance.path))[:LISTED_MOST]
