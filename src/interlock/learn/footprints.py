"""Forecasts where a task will edit: the declared paths, else those of similar work and of past commits.

Rules:
1. Nothing here is a cage: a path that is missing may be edited, and one that is listed may not.
2. What a task declares is the forecast. Habits of the history say less than that: see docs/why/footprints.md.
   Beside it stands only what an earlier attempt of the same task edited.
3. Where nothing is declared there are guesses: similar tasks, paths that the goal names, and what is edited
   with these. Each source is asked by itself, and the surest answer for a path counts. They see the same
   habits, and adding them up would count those twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest

from interlock.events.state import State, TaskState
from interlock.learn.cochange import LEAST, CoChange, folder_of
from interlock.learn.likeness import Done, Likeness
from interlock.learn.mentions import Mentions
from interlock.model.forecast import Chance, Forecast
from interlock.model.globs import matches
from interlock.model.history import BranchHistory
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
"""Assumption before anything is known: nine of ten declared paths are edited."""


class Footprints:
    """Forecasts for the tasks of one project, from its past and its log.

    A plan has many tasks and few places: what depends on the places alone is worked out once for each.
    """

    def __init__(self, past: BranchHistory, state: State) -> None:
        self._cochange = CoChange(past.changes)
        self._mentions = Mentions(past.files)
        self._files = past.files
        worked_on = sorted(
            (t for t in state.tasks.values() if t.change.work),
            key=lambda t: t.change.work.seq if t.change.work else 0,
        )
        done = [
            Done(task.spec, task.change.work.touched) for task in worked_on[-REMEMBERED:] if task.change.work
        ]
        self._alike = Likeness(done)
        self._kept_word = round(_share_of_declared(done), 4)
        self._with: dict[str, tuple[Chance, ...]] = {}

    def of(self, task: TaskState) -> tuple[Chance, ...]:
        """The paths it may edit, the likeliest first; declared ones before all others."""
        declared, found = declared_by(task.spec), list(_touched_before(task))
        if not declared:
            found += [*self._similar(task.spec), *self._mentioned(task.spec)]
            found += [one for guess in _surest(found)[:ANCHORS_MOST] for one in self._companions_of(guess)]
        listed = _surest(one for one in _best(found) if one.path not in declared)
        return (
            *(Chance(glob, self._kept_word, "declared", "the task says so") for glob in declared),
            *listed,
        )

    def _mentioned(self, spec: Task) -> Iterator[Chance]:
        for path, probability in self._mentions.of(spec.goal).items():
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

    def _companions_of(self, guess: Chance) -> Iterator[Chance]:
        """Yield the files that change with a guess; each is less sure than the guess."""
        if guess.path not in self._with:
            self._with[guess.path] = tuple(_surest(self._together(guess.path)))
        for one in self._with[guess.path]:
            if one.probability * guess.probability < LEAST:
                return
            yield Chance(one.path, one.probability * guess.probability, one.source, one.why)

    def _together(self, glob: str) -> Iterator[Chance]:
        others = (
            (probability, path)
            for path, probability in self._cochange.companions(glob)
            if path != glob and (not self._files or path in self._files)
        )
        for probability, path in nlargest(LISTED_MOST, others):
            yield Chance(path, min(0.99, probability), "companion", self._counted(glob, path))

    def _counted(self, glob: str, path: str) -> str:
        """The count of the path; where it has none, that of the folder it is in."""
        place = glob
        while True:
            together, of = self._cochange.together(place, path)
            if place == "":
                return f"in {together} of all {of} commits"
            if together:
                return f"changes with {place} in {together} of {of} commits"
            place = folder_of(place)


def declared_by(spec: Task) -> tuple[str, ...]:
    """The paths that a task says it will edit."""
    return tuple(dict.fromkeys((*spec.touches, *spec.exclusive)))


def _touched_before(task: TaskState) -> Iterator[Chance]:
    if task.change.work and task.change.landed is None:
        why = f"attempt {task.change.work.attempt} edited it"
        yield from (Chance(path, TOUCHED, "touched", why) for path in task.change.work.touched)


def _share_of_declared(done: Sequence[Done]) -> float:
    """Return the share of the declared paths that tasks really edited."""
    edited = [any(matches(glob, path) for path in one.touched) for one in done for glob in one.spec.touches]
    return (sum(edited) + SURE) / (len(edited) + SURE + UNSURE)


def steady(new: tuple[Chance, ...], before: Forecast | None) -> tuple[Chance, ...]:
    """Return the earlier footprint, as long as the new one would change no decision."""
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
