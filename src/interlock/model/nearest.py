"""Suggestions for a misspelt name: one rule for task ids, commands, settings and keys."""

from collections.abc import Collection, Iterable

from interlock.model.errors import UsageError
from interlock.model.task import TaskId

NAMES_SHOWN = 5


def nearest(word: str, names: Collection[str], likeness: float = 0.6) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - 3 ms that a command without a slip need not spend

    # Comparing takes a while, and there may be thousands: of very different lengths is no slip of the hand.
    close: Iterable[str] = (name for name in names if abs(len(name) - len(word)) <= 3)
    found = get_close_matches(word, list(close), n=1, cutoff=likeness)
    return found[0] if found else ""


def suggest(word: str, names: Collection[str], otherwise: str) -> str:
    name = nearest(word, names)
    return f"did you mean `{name}`?" if name else otherwise


def find_task(word: str, ids: Collection[TaskId], otherwise: str) -> TaskId:
    """The task of this id, or the only one whose id begins so; `otherwise` is the hint if none does."""
    if word in ids:
        return TaskId(word)
    found = [id for id in ids if word and id.startswith(word)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(found[:NAMES_SHOWN]) + (", ..." if len(found) > NAMES_SHOWN else "")
        raise UsageError(f"`{word}` could be {len(found)} tasks: {some}", "write more of the id")
    raise UsageError(f"there is no task `{word}`", suggest(word, ids, otherwise))
