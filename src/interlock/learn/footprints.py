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

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from interlock.events.state import State, TaskState
from interlock.learn.cochange import CoChange, Companion
from interlock.learn.mentions import Mentions
from interlock.model.forecast import Chance, Forecast
from interlock.model.globs import is_literal, matches
from interlock.model.history import Past
from interlock.model.task import Task

LISTED_MOST = 24
"""Paths of one forecast, beside the declared ones. Others are too unlikely to plan with."""
LEAST = 0.05
TOUCHED = 0.85
"""An attempt edits again most of what the one before it did."""
DOUBT = 1.5
"""Tasks' worth, against what similar tasks touched."""
SIMILAR = 0.25
"""Tasks less alike than this teach nothing about each other."""
REMEMBERED = 100
"""The latest tasks that others are compared with."""
SIMILAR_MOST = 20
A_LITTLE = 0.1
"""A probability that moves by less than this is no news."""
SURE, UNSURE = 9.0, 1.0
"""Before anything is known: nine of ten declared paths are edited."""

_WORDS = re.compile(r"[a-z0-9]{3,}")
_COMMON = frozenset(
    {"the", "and", "for", "with", "that", "this", "from", "into", "not", "are", "its", "when"}
)


@dataclass(frozen=True, slots=True)
class _Done:
    """A task that was worked on, and what it touched."""

    spec: Task
    words: frozenset[str]
    touched: tuple[str, ...]


class Footprints:
    """Forecasts for the tasks of one project, from its past and its log."""

    def __init__(self, past: Past, state: State) -> None:
        self._cochange = CoChange(past.changes)
        self._mentions = Mentions(past.files)
        self._files = past.files
        worked_on = sorted(
            (t for t in state.tasks.values() if t.work), key=lambda t: t.work.seq if t.work else 0
        )
        self._done = [
            _Done(task.spec, words_of(task.spec.goal), task.work.touched)
            for task in worked_on[-REMEMBERED:]
            if task.work
        ]
        self._kept_word = self._share_of_declared()

    def of(self, task: TaskState) -> tuple[Chance, ...]:
        """The paths it may edit, the likeliest first; declared ones before all others."""
        declared = tuple(dict.fromkeys((*task.spec.touches, *task.spec.exclusive)))
        found = list(self._known(task, declared))
        anchors = declared or [chance.path for chance in _surest(found)]
        found += self._companions(anchors, declared, 1.0 if declared else _most(found))
        best = {chance.path: chance for chance in sorted(found, key=lambda chance: chance.probability)}
        listed = _surest(best.values())
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
        words = words_of(spec.goal)
        shares = [(_alike(spec, words, done), done) for done in self._done if done.spec.id != spec.id]
        similar = [pair for pair in shares if pair[0] >= SIMILAR]
        alike = sorted(similar, key=lambda pair: pair[0])[-SIMILAR_MOST:]
        total = sum(share for share, _ in alike)
        sums: dict[str, float] = {}
        tasks: dict[str, list[str]] = {}
        for share, done in alike:
            for path in done.touched:
                sums[path] = sums.get(path, 0.0) + share
                tasks.setdefault(path, []).append(done.spec.id)
        for path, found in sums.items():
            if found / (total + DOUBT) >= LEAST:
                why = f"{len(tasks[path])} of {len(alike)} similar tasks edited it, like {tasks[path][-1]}"
                yield Chance(path, found / (total + DOUBT), "similar", why)

    def _companions(self, anchors: Iterable[str], declared: Sequence[str], sure: float) -> Iterator[Chance]:
        """What changes with them, and which files of the declared folders change most."""
        globs = tuple(anchors)
        if not globs:
            return
        for one in self._cochange.near(globs).companions:
            if one.probability * sure < LEAST:
                return
            if one.path in globs or (self._files and one.path not in self._files):
                continue
            is_inside = any(matches(glob, one.path) for glob in declared)
            source = "history" if is_inside else "companion"
            yield Chance(one.path, min(0.99, one.probability * sure), source, self._counted(globs, one))

    def _counted(self, globs: Sequence[str], one: Companion) -> str:
        """The count that speaks loudest."""
        counts = ((*self._cochange.together(glob, one.path), glob) for glob in globs)
        together, of, glob = max(counts, key=lambda count: ((count[0] + 1) / (count[1] + 2), count[0]))
        return f"changes with {glob} in {together} of {of} commits"

    def _declared(self, declared: Sequence[str], listed: Sequence[Chance]) -> Iterator[Chance]:
        for glob in declared:
            probability, why = self._kept_word, "the task says so"
            near = self._cochange.near((glob,))
            if not is_literal(glob) and any(matches(glob, chance.path) for chance in listed):
                probability *= near.elsewhere
                why = "the task says so; beside the files listed there"
            yield Chance(glob, round(probability, 4), "declared", why)

    def _share_of_declared(self) -> float:
        """How many of the paths that tasks declared they really edited."""
        edited = [
            any(matches(glob, path) for path in done.touched)
            for done in self._done
            for glob in done.spec.touches
        ]
        return (sum(edited) + SURE) / (len(edited) + SURE + UNSURE)


def steady(new: tuple[Chance, ...], before: Forecast | None) -> tuple[Chance, ...]:
    """The footprint of the forecast before, as long as nobody would decide otherwise by the new one."""
    if before is None:
        return new
    chances = {chance.path: chance.probability for chance in new}
    old = {chance.path: chance.probability for chance in before.footprint}
    moved = (abs(chances.get(path, 0.0) - old.get(path, 0.0)) for path in {*chances, *old})
    return before.footprint if max(moved, default=0.0) <= A_LITTLE else new


def words_of(text: str) -> frozenset[str]:
    """The words of a goal that tell it from others."""
    return frozenset(_WORDS.findall(text.lower())) - _COMMON


def _alike(spec: Task, words: frozenset[str], done: _Done) -> float:
    """From 0 to 1: by words, story, category and declared paths."""
    common = len(words & done.words) / (len(words | done.words) or 1)
    story = 0.25 * bool(spec.story and spec.story == done.spec.story)
    category = 0.1 * bool(spec.category and spec.category == done.spec.category)
    paths = 0.3 * bool(set(spec.touches) & set(done.spec.touches))
    return min(1.0, common + story + category + paths)


def _surest(chances: Iterable[Chance]) -> list[Chance]:
    likely = [chance for chance in chances if chance.probability >= LEAST]
    return sorted(likely, key=lambda chance: (-chance.probability, chance.path))[:LISTED_MOST]


def _most(chances: Sequence[Chance]) -> float:
    return max((chance.probability for chance in chances), default=0.0)
