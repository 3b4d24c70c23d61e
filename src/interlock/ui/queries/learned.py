"""Failures and lessons as programs get them, and the command that helps against a failure."""

from dataclasses import dataclass
from typing import TypeVar

from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.events.state_parts import LessonState
from interlock.learn.errors import FailureGroup
from interlock.learn.flakes import FlakyCheck
from interlock.learn.usefulness import is_better
from interlock.model.errors import UsageError
from interlock.model.outcome import ErrorClass
from interlock.ui.words.reasons import reason_object
from interlock.ui.words.remedies import after_failure

Meant = TypeVar("Meant")
SHOWN = 6
"""Tasks that are named in a line; the rest are counted."""


NEEDS_SETTING_UP = (ErrorClass.AUTH, ErrorClass.MISSING)


def find_failure(found: list[FailureGroup], name: str) -> FailureGroup:
    return _only([group for group in found if group.id.startswith(name)], "failure", name, "errors")


def find_lesson(lessons: dict[str, LessonState], name: str) -> LessonState:
    return _only([known for key, known in lessons.items() if key.startswith(name)], "lesson", name, "lessons")


def _only(fitting: list[Meant], noun: str, name: str, command: str) -> Meant:
    if len(fitting) != 1:
        many = f"more than one {noun} begins" if fitting else f"no {noun} begins"
        raise UsageError(f"{many} with `{name}`", f"`interlock {command} --all` lists them")
    return fitting[0]


def next_step(state: State, trouble: FailureGroup) -> str:
    failed = [name for name in trouble.open if state.tasks[name].stage is Stage.FAILED]
    if trouble.error in NEEDS_SETTING_UP:
        return after_failure(state.tasks[failed[0]]) if failed else "interlock doctor"
    if failed:
        return f"interlock retry {' '.join(failed[:SHOWN])}"
    if trouble.open:
        return f"interlock explain {trouble.open[0]}"
    return f"interlock show {trouble.tasks[-1]}"


@dataclass(frozen=True, slots=True)
class FailureObject:
    """A failure with all its tasks, for programs."""

    id: str
    error: str
    what: str
    example: str | None
    tasks: tuple[str, ...]
    open: tuple[str, ...]
    """Those that still have it."""
    times: int
    first: float
    last: float
    past_it: tuple[str, ...]
    """How tasks got past it."""
    lesson: str | None
    next: str


def failure_document(state: State, trouble: FailureGroup) -> FailureObject:
    return FailureObject(
        id=trouble.id,
        error=trouble.error,
        what=trouble.what,
        example=trouble.example or None,
        tasks=trouble.tasks,
        open=trouble.open,
        times=len(trouble.cases),
        first=trouble.cases[0].time,
        last=trouble.cases[-1].time,
        past_it=trouble.endings,
        lesson=trouble.lesson or None,
        next=next_step(state, trouble),
    )


def lesson_document(known: LessonState) -> dict[str, object]:
    lesson = known.lesson
    return {
        "id": lesson.id,
        "state": "retired" if known.retired else "in use",
        "retired_why": reason_object(known.retired) if known.retired else None,
        "mechanism": lesson.mechanism,
        "symptom": lesson.symptom,
        "text": lesson.text,
        "fix": lesson.fix,
        "scope": {"category": lesson.category, "paths": lesson.paths, "check": lesson.command},
        "from": {
            "task": lesson.task,
            "failed_attempt": lesson.failed_attempt,
            "attempt": lesson.attempt,
            "commit": lesson.commit,
            "author": lesson.author,
            "landings": known.learned,
        },
        "with": {"tried": known.with_tried, "landed": known.with_landed},
        "without": {"tried": known.without_tried, "landed": known.without_landed},
        "helps": round(is_better(known), 3),
    }


@dataclass(frozen=True, slots=True)
class FlakeObject:
    """One time that a check failed and passed on the same files."""

    task: str | None
    """None: it ran on main."""
    attempt: int
    time: float
    log: str
    """The output of the run that failed."""


@dataclass(frozen=True, slots=True)
class FlakyObject:
    """A check that failed and passed on the same files, for programs."""

    command: str
    runs: int
    flaked: int
    flakes: tuple[FlakeObject, ...]


def flaky_document(check: FlakyCheck) -> FlakyObject:
    flakes = tuple(
        FlakeObject(flake.task or None, flake.attempt, flake.time, flake.log) for flake in check.flakes
    )
    return FlakyObject(check.command, check.runs, len(flakes), flakes)
