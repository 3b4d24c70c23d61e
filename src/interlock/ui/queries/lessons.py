"""Lessons as programs get them."""

from interlock.events.state import LessonState
from interlock.learn.usefulness import is_better
from interlock.model.errors import UsageError
from interlock.ui.words.reasons import reason_object


def find_lesson(lessons: dict[str, LessonState], name: str) -> LessonState:
    fitting = [known for key, known in lessons.items() if key.startswith(name)]
    if len(fitting) != 1:
        many = "more than one lesson begins" if fitting else "no lesson begins"
        raise UsageError(f"{many} with `{name}`", "`interlock lessons --all` lists them")
    return fitting[0]


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
