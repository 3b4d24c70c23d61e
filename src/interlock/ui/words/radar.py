"""Overlaps of changes under way, in words."""

from collections.abc import Sequence

from interlock.events.state import State
from interlock.events.state_parts import LiveOverlap
from interlock.model.radar import MAIN
from interlock.model.task import TaskId
from interlock.train.radar import BY_OVERLAPS
from interlock.ui.plain import inert, one_line

SHOWN = 3


def overlap_text(task: TaskId, other: TaskId, paths: Sequence[str], count: int, most: int = SHOWN) -> str:
    """`a and b: their changes conflict in f.py`."""
    where = paths_text(paths, count, most)
    if other == MAIN:
        return f"{task}: its change conflicts with main in {where}"
    return f"{task} and {other}: their changes conflict in {where}"


def gone_text(task: TaskId, other: TaskId) -> str:
    if other == MAIN:
        return f"{task}: its change no longer conflicts with main"
    return f"{task} and {other}: their changes no longer conflict"


def gave_way_text(other: TaskId, by: str) -> str:
    """The reason why a finished change lands later."""
    more = (
        f"{other} conflicts with more running changes" if by == BY_OVERLAPS else f"more was spent on {other}"
    )
    return f"behind {other} in the queue: their changes conflict, and {more}"


def beside_text(overlap: LiveOverlap, task: TaskId) -> str:
    """One overlap of this task."""
    other = overlap.beside(task)
    whose = f"the change of {other}" if other != MAIN else "main"
    return f"its change conflicts now with {whose} in {paths_text(overlap.paths, overlap.count, SHOWN)}"


def paths_text(paths: Sequence[str], count: int, most: int) -> str:
    named = ", ".join(one_line(inert(path)) for path in paths[:most])
    more = count - min(len(paths), most)
    return f"{named} and {more} more" if more > 0 else named


def radar_line(state: State) -> str:
    """All overlaps in one line; '' if there is none."""
    live = list(state.radar.live.values())
    if not live:
        return ""
    first = live[0]
    text = overlap_text(first.task, first.other, first.paths, first.count, 1)
    more = f"; {len(live) - 1} more: interlock radar" if len(live) > 1 else ""
    return f"radar: {text}{more}"
