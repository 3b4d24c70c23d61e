"""Past runs: found by number or name, as documents, and as they stood at any moment."""

from collections.abc import Sequence
from datetime import datetime

from interlock.events.fold import apply
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.past import PastRun
from interlock.model.claim import CONTROLLER, Claim, Held
from interlock.model.errors import UsageError
from interlock.ui.plain import counted
from interlock.ui.reading import Reading
from interlock.ui.words.facts import clock
from interlock.ui.words.reasons import reason_object

LAST = "last"


def find_run(runs: list[PastRun], name: str) -> PastRun:
    if not runs:
        raise UsageError("no run in this repository yet", "interlock run")
    if name == LAST:
        return runs[-1]
    if name.isdecimal() and len(name) < 10 and 1 <= int(name) <= len(runs):
        return runs[int(name) - 1]
    found = [run for run in runs if run_name(run.run).startswith(name) or run.run == name]
    if len(found) == 1:
        return found[0]
    known = f"{len(found)} runs begin with `{name}`" if found else f"there is no run `{name}`"
    raise UsageError(f"{known}; the log has {counted(len(runs), 'run')}", "interlock replay lists them all")


def run_name(run: str) -> str:
    """The end of an incarnation's name is what tells it from all others."""
    return run.rpartition("/")[2]


def run_document(run: PastRun, number: int) -> dict[str, object]:
    return {
        "number": number,
        "run": run.run,
        "first": run.first,
        "last": run.last,
        "started": run.started,
        "seconds": run.seconds,
        "slots": run.slots,
        "landed": run.landed,
        "failed": run.failed,
        "attempts": run.attempts,
        "ended": reason_object(run.why) if run.why else None,
    }


def position_at(log: list[Recorded], run: PastRun, moment: str) -> int:
    if moment.isdecimal() and len(moment) < 19:
        position = int(moment)
        if run.first <= position <= run.last:
            return position
        raise UsageError(
            f"fact {position} is not in this run ({run.first} to {run.last})",
            "interlock replay lists the runs",
        )
    times = [row for row in log[run.first - 1 : run.last] if clock(row.time) <= moment]
    if not _is_clock(moment) or not times:
        raise UsageError(
            f"`{moment}` is not a moment of this run ({clock(run.started)} to {clock(run.ended)})",
            "give the number of a fact, or a time like 14:05:30",
        )
    return times[-1].seq


def position_in(log: Sequence[Recorded], moment: str) -> int:
    """The position of a fact of any run."""
    if moment.isdecimal() and len(moment) < 19 and 1 <= int(moment) <= len(log):
        return int(moment)
    raise UsageError(
        f"the log has no fact `{moment}`; it has facts 1 to {len(log)}",
        "with a time of day, name the run: interlock replay last --at 14:05:30",
    )


def _is_clock(text: str) -> bool:
    try:
        datetime.strptime(text, "%H:%M:%S")  # noqa: DTZ007 - only its form matters
    except ValueError:
        return False
    return True


def _in_charge_then(state: State) -> Held | None:
    run = state.run
    if run is None or run.ended is not None:
        return None
    return Held(Claim(CONTROLLER, run.generation, run.holder), expires_in_seconds=1.0)


def reading_of(state: State) -> Reading:
    """The reading of a past moment: the run was in charge then, if it had not ended."""
    return Reading(state, state.time, _in_charge_then(state), {})


def reading_at(log: Sequence[Recorded], position: int) -> Reading:
    state = State()
    for row in log[:position]:
        apply(state, row)
    return reading_of(state)
