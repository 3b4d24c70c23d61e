"""Add a lesson by hand, and retire one."""

from hashlib import sha256

from interlock.events.facts import LessonLearned, LessonRetired
from interlock.events.state_parts import LessonState
from interlock.model.errors import UsageError
from interlock.model.lesson import Lesson
from interlock.model.reason import Reason, Why
from interlock.model.redact import Redactor
from interlock.store.protocol import Store
from interlock.ui.words.reasons import reason_text

MOST_CHARS = 2_000
"""Length of a lesson, which goes into many prompts."""


def new_lesson(text: str, category: str, paths: tuple[str, ...], command: str, author: str) -> Lesson:
    """A lesson in a person's words. The same words for the same scope are the same lesson."""
    words = Redactor().clean(text)
    if not 0 < len(words) <= MOST_CHARS:
        raise UsageError(
            f"a lesson has 1 to {MOST_CHARS} characters, this one has {len(words)}", "make it shorter"
        )
    name = sha256("\0".join((words, category, command, *paths)).encode()).hexdigest()[:8]
    return Lesson(name, "", words, "", category, paths, command=command, author=author)


async def add_lesson(store: Store, lesson: Lesson) -> None:
    """Tell every attempt in its scope, until it is retired."""
    await store.append([LessonLearned(lesson)], lesson.author)


async def retire_lesson(store: Store, known: LessonState, why: str, actor: str) -> None:
    """Tell no attempt of it any more."""
    name = known.lesson.id
    if known.retired:
        raise UsageError(
            f"{name} is retired already: {reason_text(known.retired)}", f"interlock lessons {name}"
        )
    await store.append(
        [LessonRetired(name, why, None if why else Reason(Why.RETIRED_BY, {"actor": actor}))], actor
    )
