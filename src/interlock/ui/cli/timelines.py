"""A run over time as lines of text: a column for each piece of its time."""

from collections.abc import Iterable, Iterator

from interlock.ui.plain import counted, inert
from interlock.ui.queries.timeline import Bar, TimelineDocument, TimelineTask
from interlock.ui.words.facts import clock

COLUMNS = 60
NAME_CHARS = 24
BLOCKED, QUEUED, WORKING, CHECKED, FAILED, LANDED = ".-=#!*"
WORDS = {
    BLOCKED: "blocked",
    QUEUED: "queued",
    WORKING: "agent at work",
    CHECKED: "checks",
    FAILED: "failed",
    LANDED: "landed",
}


def timeline_lines(document: TimelineDocument) -> Iterator[str]:
    """A line for each task, with a legend and the critical path."""
    run = document.run
    if run is None:
        return
    width = min(NAME_CHARS, max((len(row.task) for row in document.tasks), default=0))
    seconds = max(run.ended - run.started, 1e-6)
    yield f"run {run.number}, {clock(run.started)} to {clock(run.ended)}, {seconds / COLUMNS:.3g} s a column"
    for row in document.tasks:
        yield f"{inert(row.task)[:width]:{width}}  {_drawn(row, run.started, run.ended)}".rstrip()
    yield "  ".join(f"{mark} {word}" for mark, word in WORDS.items())
    if len(document.critical) > 1:
        yield f"critical path ({counted(len(document.critical), 'task')}): {', '.join(document.critical)}"


def _drawn(row: TimelineTask, start: float, end: float) -> str:
    cells = [" "] * COLUMNS
    began = row.bars[0].started if row.bars else end
    ready = began if row.ready is None else row.ready
    for mark, first, last in (
        (BLOCKED, max(row.accepted, start), min(ready, began)),
        *([(QUEUED, max(row.ready, start), began)] if row.ready is not None else []),
        *_bars(row.bars, end),
    ):
        if last > first:
            for cell in range(_column(first, start, end), _column(last, start, end) + 1):
                cells[cell] = mark
    if row.landed is not None and start <= row.landed <= end:
        cells[_column(row.landed, start, end)] = LANDED
    return "".join(cells)


def _bars(bars: Iterable[Bar], end: float) -> Iterator[tuple[str, float, float]]:
    for bar in bars:
        mark = WORKING if bar.kind == "agent" else CHECKED
        yield FAILED if bar.outcome in ("failed", "lost") else mark, bar.started, bar.ended or end


def _column(time: float, start: float, end: float) -> int:
    return max(0, min(COLUMNS - 1, int((time - start) / max(end - start, 1e-6) * COLUMNS)))
