"""Retire a lesson by hand."""

from interlock.events.facts import LessonRetired
from interlock.events.state_parts import LessonState
from interlock.model.errors import UsageError
from interlock.model.reason import Reason, Why
from interlock.store.protocol import Store
from interlock.ui.words.reasons import reason_text


async def retire_lesson(store: Store, known: LessonState, why: str, actor: str) -> None:
    name = known.lesson.id
    if known.retired:
        raise UsageError(
            f"{name} is retired already: {reason_text(known.retired)}", f"interlock lessons {name}"
        )
    await store.append(
        [LessonRetired(name, why, None if why else Reason(Why.RETIRED_BY, {"actor": actor}))], actor
    )
