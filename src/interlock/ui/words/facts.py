"""A fact in one line, for people."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime

from interlock.events.facts import Fact, LessonLearned, TaskAccepted, TaskEstimated
from interlock.events.record import Recorded, Unreadable
from interlock.model.numbers import bounded
from interlock.model.outcome import Resolved
from interlock.model.reason import Reason
from interlock.model.unwanted import LeftOut
from interlock.ui.plain import inert, shortened
from interlock.ui.words.forecasts import time_text
from interlock.ui.words.reasons import reason_text

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
EMPTY: tuple[object, ...] = (None, "", (), {}, [], 0, 0.0, False)


def line(row: Recorded) -> str:
    """Number, time, fact, what it is about."""
    fact = row.fact
    text = describe(fact)
    if isinstance(fact, Unreadable):
        text = f"{_short(row.kind)} (this version cannot read it) {_short(row.body)}"
    return f"{row.seq:>6}  {clock(row.time)}  {text}"


def clock(seconds: float) -> str:
    """A moment in the reader's own time zone."""
    return datetime.fromtimestamp(bounded(seconds), UTC).astimezone().strftime("%H:%M:%S")


def with_numbers(text: str, facts: Sequence[int]) -> str:
    """A sentence with the numbers of the facts that say so, for `interlock events --since`."""
    if not facts:
        return text
    return f"{text} (fact{'s' if len(facts) > 1 else ''} {', '.join(map(str, facts))})"


def describe(fact: Fact) -> str:
    if isinstance(fact, TaskAccepted):
        return f"TaskAccepted {fact.task.id}: {_short(fact.task.goal)}"
    if isinstance(fact, LessonLearned):
        return f"LessonLearned {fact.lesson.id}: {_short(fact.lesson.mechanism or fact.lesson.text)}"
    if isinstance(fact, TaskEstimated):
        return f"TaskEstimated {fact.task}: {_estimated(fact)}"
    words = [type(fact).__name__]
    if task := getattr(fact, "task", None):
        words.append(task)
    if attempt := getattr(fact, "attempt", None):
        words.append(f"#{attempt}")
    if phase := getattr(fact, "phase", None):
        words.append(phase)
    return " ".join([*words, *_details(fact)])


def _details(fact: Fact) -> list[str]:
    shown = []
    for field in fields(fact):
        value = getattr(fact, field.name)
        if field.name in LEFT_OUT or value in EMPTY:
            continue
        text = _plain(value)
        looks_like_id = field.name in ("commit", "base", "main", "work", "digest")
        shown.append(f"{field.name}={text[:12] if looks_like_id else _short(text)}")
    return shown


def _estimated(fact: TaskEstimated) -> str:
    """Kind, agent, time and chance; `interlock show` has the rest."""
    found = fact.forecast
    time = time_text(found)
    agent = f" by {found.agent}" if found.agent else ""
    return inert(
        f"{found.category} ({reason_text(found.category_why)}){agent}, {time}, {found.success:.0%} land"
    )


def _plain(value: object) -> str:
    """A field's value without the marks of a programming language."""
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, Reason):
        return reason_text(value)
    if isinstance(value, Mapping):
        return f"({' '.join(f'{name}={_plain(each)}' for name, each in value.items())})"
    if is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return _plain({name: each for name, each in named.items() if each not in EMPTY})
    if isinstance(value, (tuple, list, set, frozenset)):
        return ", ".join(_plain(each) for each in value)
    return str(value)


def _short(text: str) -> str:
    return shortened(inert(text), 100)


def left_out_lines(left_out: Sequence[LeftOut], archived: str) -> list[str]:
    """The files that do not land and why, then where they are kept and how to land them all the same."""
    if not left_out:
        return []
    kept = f"kept in {archived}^; " if archived else ""
    named = [f"left out: {out.text}" for out in left_out]
    return [*named, f"{kept}to land such files, set land_files in interlock.toml"]


def resolved_lines(resolved: Sequence[Resolved]) -> list[str]:
    """The files that main and the change both edited in the same places, and the command that made each."""
    return [f"conflict in {file.path} resolved by `{file.command}`" for file in resolved]
