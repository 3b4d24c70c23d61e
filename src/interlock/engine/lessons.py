"""Puts the lessons of landings into the log, and writes them into prompts.

Lessons stay in the project they were learned in: their checks and paths mean nothing in another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from interlock.engine.env import Env
from interlock.engine.quote import quoted
from interlock.engine.template import has_place
from interlock.events import facts as f
from interlock.events.state import State, TaskState
from interlock.events.task_parts import Failure
from interlock.learn.fixes import Fix, difference
from interlock.learn.lessons import Offer, lesson_of, offer, worth_learning
from interlock.learn.usefulness import retirements
from interlock.model.errors import InterlockError
from interlock.model.lesson import Lesson
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit, PhaseKind, TaskId

PLACE = "lessons"
SYMPTOM_CHARS = 400
FIX_CHARS = 2_000
MOST_LESSONS = 2
"""The most lessons of one landing. A task that failed in more ways than that was simply hard."""


async def lessons_due(env: Env, state: State) -> list[f.Fact]:
    """Facts about lessons that follow from State and are not in it yet."""
    facts: list[f.Fact] = [*retirements(state)]
    for name in sorted(state.index.to_learn_from):
        facts += await _learned(env, state.tasks[name])
    return facts


async def _learned(env: Env, task: TaskState) -> Sequence[f.Fact]:
    """Return the facts that one landing teaches; at least one, or it would be looked at again and again."""
    name, failures = task.spec.id, worth_learning(task)
    if not failures:
        return [f.NothingLearned(name, task.attempt, Reason(Why.CHECK_GONE))]
    lessons = [lesson for failure in failures[:MOST_LESSONS] if (lesson := await _lesson(env, task, failure))]
    if not lessons:
        return [f.NothingLearned(name, task.attempt, Reason(Why.NO_FIX_SEEN))]
    return [f.LessonLearned(lesson) for lesson in lessons]


async def _lesson(env: Env, task: TaskState, failure: Failure) -> Lesson | None:
    made = task.change.work
    if made is None or task.change.landed is None or failure.commit is None:
        return None
    fix = await _fix(env, (failure.base, failure.commit), (made.base, made.commit))
    return lesson_of(task, failure, fix, task.change.landed) if fix else None


async def _fix(env: Env, failed: tuple[Commit, Commit], landed: tuple[Commit, Commit]) -> Fix | None:
    try:
        diffs = [env.clean(await env.repository.diff(*change)) for change in (failed, landed)]
    except InterlockError:
        return None  # `gc` or a shallow fetch took a commit away
    return difference(*diffs)


@dataclass(slots=True)
class Offering:
    """Chooses the lessons of one controller's attempts. It knows of starts that the log does not show yet."""

    _started: dict[TaskId, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """The attempt that was started last, and its lessons."""

    def make(self, env: Env, state: State, task: TaskState, attempt: int) -> Offer:
        """The lessons for an attempt that is about to start."""
        if not takes_lessons(env.template, task):
            return Offer()
        self._started = {
            name: pair
            for name, pair in self._started.items()
            if name in state.tasks and state.tasks[name].attempt < pair[0]
        }
        starting = {name: ids for name, (_, ids) in self._started.items()}
        made = offer(state, task, attempt, env.lesson_hold_out, starting)
        self._started[task.spec.id] = (attempt, made.ids)
        return made


def takes_lessons(template: str, task: TaskState) -> bool:
    """Return True if the next prompt of a task shows lessons. A resumed session has read its own already."""
    return task.phase.kind is PhaseKind.AGENT and task.session.cut_off is None and has_place(template, PLACE)


def offer_facts(key: tuple[TaskId, int, str, int], made: Offer) -> list[f.LessonsOffered]:
    """Return the facts about an offer; none where it is empty."""
    return [f.LessonsOffered(*key, made.ids, made.held_out)] if made.given or made.held_out else []


def told(lessons: Sequence[Lesson]) -> str:
    """The part of a prompt that has the lessons; what came from outside stands in fences."""
    if not lessons:
        return ""
    head = "## What earlier attempts learned\n\nIt may not fit your task. The goal and the checks come first."
    return "\n\n".join((head, *(_one(lesson) for lesson in lessons)))


def _one(lesson: Lesson) -> str:
    parts = (
        f"### {lesson.mechanism}" if lesson.mechanism else "### What a person wants you to know",
        lesson.text,
        quoted("How it shows", lesson.symptom, SYMPTOM_CHARS, "start"),
        quoted("What made the difference", lesson.fix, FIX_CHARS, "start"),
    )
    return "\n\n".join(part.strip() for part in parts if part)
