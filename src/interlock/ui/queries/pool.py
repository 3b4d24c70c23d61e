"""The pool as people and programs see it: slots, queue, and the figures the system watches about itself."""

from collections.abc import Iterator

from interlock.engine.slots import Slots, slots_of
from interlock.model.durations import lasting
from interlock.model.pool import TARGETS, PoolFigures, missed
from interlock.schedule import Board
from interlock.ui.cli.output import paint
from interlock.ui.reading import Reading
from interlock.ui.words.plain import counted


def slots_now(reading: Reading, board: Board) -> Slots:
    """The slots of the run that goes on; without one there are none."""
    return slots_of(reading.state, board, reading.is_live)


def pool_object(reading: Reading, board: Board) -> dict[str, object]:
    """The pool as programs get it."""
    measured = reading.state.pool
    return {
        "slots": slots_now(reading, board),
        "figures": measured.figures if measured else None,
        "measured": measured.time if measured else None,
        "run": measured.run if measured else None,
        "targets": TARGETS,
        "missed": missed(measured.figures) if measured else (),
    }


def pool_line(reading: Reading, board: Board) -> str:
    """The pool in one line; '' where there is nothing to say. Figures are of the run that goes on, or else of
    the last one."""
    slots, measured, run = slots_now(reading, board), reading.state.pool, reading.state.run
    figures = list(_figures(measured.figures)) if measured and measured.figures.attempts else []
    if not reading.is_live:
        return f"pool in the last run: {' | '.join(figures)}" if figures else ""
    is_of_this_run = measured is not None and run is not None and measured.run == run.run
    now = f"{slots.in_use} of {slots.limit} slots in use, {slots.queue} in the queue"
    return f"pool: {' | '.join([now, *(figures if is_of_this_run else [])])}"


def _figures(figures: PoolFigures) -> Iterator[str]:
    waited = (lasting(figures.waiting_p50_seconds), lasting(figures.waiting_p99_seconds))
    yield f"{counted(figures.attempts, 'attempt')}, waited {waited[0]} (median), {waited[1]} (p99)"
    yield f"{figures.utilization:.0%} of the slots' time used"
    above = missed(figures)
    texts = {
        "retry_rate": f"{figures.retry_rate:.0%} retries",
        "idle_share": f"{figures.idle_share:.0%} idle",
        "conflicts": counted(figures.conflicts, "conflict"),
        "by_hand": f"{figures.by_hand} by hand",
    }
    yield ", ".join(_marked(name, text) if name in above else text for name, text in texts.items())


def _marked(name: str, text: str) -> str:
    most = TARGETS[name]
    return paint(f"{text} (target: {f'{most:.0%}' if most else '0'})", "yellow")
