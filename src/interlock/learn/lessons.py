"""Lessons: learned from a failure and the landing after it, and given to some later attempts.

1. A lesson comes from evidence: a check that was red on one change of a task and green on a later one.
   Nothing that an agent or a file says makes one.
2. A share of the attempts in its scope is not given it. What follows is counted for both, and decides.
3. An unproven lesson reaches few attempts at a time: a bad one costs little. No attempt gets two
   of them, so that it is known which one did it; and none after one of them has failed the task, so that no
   task is given up for what lessons told it.
4. What a person wrote is given to all in its scope. It is for people to say when it goes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from interlock.events.state import State, TaskState
from interlock.events.state_parts import LessonState
from interlock.events.task_parts import Candidate, Failure
from interlock.learn.fixes import Fix
from interlock.learn.usefulness import is_better
from interlock.model.failure import symptom
from interlock.model.globs import overlap
from interlock.model.lesson import Lesson
from interlock.model.task import TaskId

MOST_OFFERED = 3
"""More than a few lessons are not read."""
MOST_PATHS = 6
HOLD_OUT = 0.2
"""The share of attempts that even a good lesson is kept from, so that it stays known what it does."""
MOST_HELD_OUT = 0.8
MOST_NAMED = 3
MOST_NOTES = 500
PLAIN = re.compile(r"^[\w./@+-]{1,120}$", re.ASCII)
FIRST_TRIALS = 2
"""The most attempts that have a new lesson at a time; each one that lands adds two."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Lessons that an attempt is given, and those that are kept from it although they fit."""

    given: tuple[Lesson, ...] = ()
    held_out: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(lesson.id for lesson in self.given)


def worth_learning(task: TaskState) -> list[Failure]:
    """The failures that a landed task overcame and whose check is known, the last first, one of a kind."""
    if task.change.work is None or task.change.landed is None:
        return []
    checks = {*task.spec.done_when, *task.spec.verify}
    found: dict[str, Failure] = {}
    for failure in reversed(task.trouble.failures):
        if (
            failure.commit
            and failure.base
            and failure.command in checks
            and failure.attempt < task.change.work.attempt
        ):
            found.setdefault(symptom(failure.error, failure.why, failure.feedback).id, failure)
    return list(found.values())


def lesson_of(task: TaskState, failure: Failure, fix: Fix, landed: Candidate) -> Lesson:
    """Make a lesson of the failure and the landing after it, in our words; theirs are kept apart."""
    seen = symptom(failure.error, failure.why, failure.feedback)
    name = sha256(f"{seen.id}\0{failure.command}\0{task.category}".encode()).hexdigest()[:8]
    told = (
        f"Attempt {failure.attempt} of {task.spec.id} failed in this way, and attempt {task.attempt} landed. "
        "The difference between the two changes is below: see whether yours needs the same."
    )
    return Lesson(
        id=name,
        mechanism=f"`{failure.command}` fails {_without(fix)}",
        text=told + _hint(task.talk.notes),
        fingerprint=seen.id,
        category=task.category,
        paths=_places(fix.paths),
        task=task.spec.id,
        attempt=task.attempt,
        commit=landed.commit,
        failed_attempt=failure.attempt,
        command=failure.command,
        symptom=seen.line,
        fix=fix.excerpt,
    )


def _hint(notes: str) -> str:
    """Return what a person told the attempt that landed: it is part of why it did."""
    return f"\n\nA person had said to it: {notes.strip()[:MOST_NOTES]}" if notes.strip() else ""


def _without(fix: Fix) -> str:
    """The files that make the difference. A name that could hold a sentence is not for our own words."""
    plain = [path for path in fix.paths if PLAIN.match(path)][:MOST_NAMED]
    return f"without the right change of {', '.join(plain)}" if plain else "without the right change"


def _places(paths: Sequence[str]) -> tuple[str, ...]:
    """The folders of these files: the next task has other files in them."""
    folders = (path.rpartition("/")[0] for path in paths)
    globs = [f"{folder}/**" if folder else path for folder, path in zip(folders, paths, strict=True)]
    return tuple(dict.fromkeys(globs))[:MOST_PATHS]


def offer(
    state: State,
    task: TaskState,
    attempt: int,
    hold_out: float = HOLD_OUT,
    starting: Mapping[TaskId, Sequence[str]] | None = None,
) -> Offer:
    """The lessons for an attempt. `starting` are those of attempts that the log does not show yet."""
    given: list[Lesson] = []
    held_out: list[str] = []
    may_try = not _was_misled(state, task)
    for known in _fitting(state, task)[:MOST_OFFERED]:
        lesson = known.lesson
        if lesson.author:
            given.append(lesson)
        elif hold_out >= 1.0:
            continue
        elif _draw(task.spec.id, attempt, lesson.id) < _held_out_share(known, hold_out):
            held_out.append(lesson.id)
        elif not (known.is_trusted or may_try):
            continue
        elif _under_trial(state, lesson.id, starting or {}) < FIRST_TRIALS + 2 * known.with_landed:
            given.append(lesson)
            may_try = may_try and known.is_trusted
    return Offer(tuple(given), tuple(held_out))


def _fitting(state: State, task: TaskState) -> list[LessonState]:
    last = task.trouble.failures[-1] if task.trouble.failures else None
    seen = symptom(last.error, last.why, last.feedback).id if last else ""
    # What the attempt that has just failed was given did not help, and may be why.
    tried = task.session.offered if last and last.attempt == task.attempt else ()
    found = []
    for name, known in state.learned.lessons.items():
        by_person, is_seen = bool(known.lesson.author), seen == known.lesson.fingerprint != ""
        if known.retired or (name in tried and not by_person):
            continue
        if is_seen or concerns(known.lesson, task):
            found.append((is_seen, by_person, is_better(known), known.learned, name))
    return [state.learned.lessons[name] for *_, name in sorted(found, reverse=True)]


def _was_misled(state: State, task: TaskState) -> bool:
    if not task.trouble.failures or task.trouble.failures[-1].attempt != task.attempt:
        return False
    lessons = state.learned.lessons
    return any(name in lessons and not lessons[name].is_trusted for name in task.session.offered)


def concerns(lesson: Lesson, task: TaskState) -> bool:
    """Return True if the task is of the lesson's kind, with the same check or work in the same places."""
    if lesson.category not in ("", task.category):
        return False
    if not lesson.command and not lesson.paths:
        return True
    spec = task.spec
    if lesson.command in (*spec.done_when, *spec.verify):
        return True
    footprint = task.forecast.footprint if task.forecast else ()
    mine = (*spec.touches, *spec.exclusive, *(chance.path for chance in footprint))
    return any(overlap(theirs, ours) for theirs in lesson.paths for ours in mine)


def _held_out_share(known: LessonState, hold_out: float) -> float:
    """More while it is uncertain that the lesson helps. 0 means never."""
    return max(hold_out, min(MOST_HELD_OUT, 1.0 - is_better(known))) if hold_out else 0.0


def _draw(task: TaskId, attempt: int, lesson: str) -> float:
    """Return a number in [0, 1) by chance, the same for the same arguments."""
    return int(sha256(f"{task}\0{attempt}\0{lesson}".encode()).hexdigest()[:8], 16) / 2**32


def _under_trial(state: State, lesson: str, starting: Mapping[TaskId, Sequence[str]]) -> int:
    running = {name: state.tasks[name].session.offered for name in state.index.running}
    return sum(lesson in offered for offered in {**running, **starting}.values())
