"""The pool as people and programs see it: slots, queue, and the figures the system watches about itself."""

from interlock.engine.slots import Slots, slots_of
from interlock.events.state import State
from interlock.model.pool import TARGETS, missed
from interlock.schedule import Board
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import with_reasons


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


def brake_object(state: State) -> object:
    """The same for programs: every limit there is."""
    return with_reasons({"categories": state.clutch, "providers": state.provider_limits})
