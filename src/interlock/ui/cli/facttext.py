"""A fact in one line, for people."""

from dataclasses import fields
from datetime import UTC, datetime

from interlock.events.facts import Fact, LessonLearned, TaskAccepted
from interlock.events.record import Recorded
from interlock.ui.cli.output import inert

LEFT_OUT = (
    "task",
    "attempt",
    "phase",
    "epoch",
    "holder",
    "tree",
    "fingerprint",
    "feedback",
    "tail",
    "checks",
    "touched",
)
"""Said elsewhere in the line, or too long for it."""


def line(row: Recorded) -> str:
    """Number, time, fact, what it is about."""
    return f"{row.seq:>6}  {clock(row.time)}  {describe(row.fact)}"


def clock(seconds: float) -> str:
    """A moment in the reader's own time zone."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%H:%M:%S")


def describe(fact: Fact) -> str:
    """The fact's name, its task, and the fields worth a glance."""
    if isinstance(fact, TaskAccepted):
        return f"TaskAccepted {fact.task.id}: {_short(fact.task.goal)}"
    if isinstance(fact, LessonLearned):
        return f"LessonLearned {fact.lesson.id}: {_short(fact.lesson.mechanism or fact.lesson.text)}"
    words = [type(fact).__name__]
    if task := getattr(fact, "task", None):
        words.append(task)
    if attempt := getattr(fact, "attempt", None):
        words.append(f"#{attempt}")
    if phase := getattr(fact, "phase", None):
        words.append(phase)
    return " ".join([*words, *_details(fact)])


def _details(fact: Fact) -> list[str]:
    """The rest, as name=value, without what is empty."""
    shown = []
    for field in fields(fact):
        value = getattr(fact, field.name)
        if field.name in LEFT_OUT or value in (None, "", (), 0, 0.0, False):
            continue
        text = f"{value:.1f}" if isinstance(value, float) else str(value)
        looks_like_id = field.name in ("commit", "base", "main", "work", "digest")
        shown.append(f"{field.name}={text[:12] if looks_like_id else _short(text)}")
    return shown


def _short(text: str) -> str:
    text = " ".join(inert(text).split())
    return f"{text[:99]}…" if len(text) > 100 else text
