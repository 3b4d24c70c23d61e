"""The limits in force, each in one line: what holds agents back right now, a reduced sandbox, and
statements that are late."""

from collections.abc import Iterator

from interlock.events.state import State
from interlock.model.sandbox import Sandbox
from interlock.ui.plain import counted, inert, shortened
from interlock.ui.words.facts import clock
from interlock.ui.words.reasons import reason_text

DELAY_CHARS = 160


def brake_line(state: State, besides: frozenset[str] = frozenset()) -> str:
    """The kinds of work, providers and machine that are limited below what the run allows; '' if none is.
    Leaves out the providers in `besides`."""
    found = list(_brakes(state, besides))
    return f"clutch: {', '.join(found)}" if found else ""


def _brakes(state: State, besides: frozenset[str]) -> Iterator[str]:
    run = state.run
    if run is None or run.ended is not None:
        return
    if run.brake and run.brake.brake == "host":
        yield f"{run.limit} in all (host: {reason_text(run.brake.why)})"
    for name, limit in sorted(state.limits.categories.items()):
        gauge = state.learned.tallies.gauges.get(name)
        if gauge and (gauge.queued or gauge.at_work) and limit.limit < run.limit:
            yield f"{inert(name)} {gauge.at_work} of {limit.limit} ({limit.brake})"
    for name, limit in sorted(state.limits.providers.items()):
        if limit.limit < run.limit and name not in besides:
            how = f"closed until {clock(limit.until)}" if limit.until else f"{limit.limit} (provider)"
            yield f"{inert(name)} {how}"


def sandbox_warning(state: State) -> str:
    """The words that every screen shows if agents of the last run could reach more than they should."""
    kind = state.run.sandbox if state.run else ""
    return {Sandbox.NONE.value: "NO SANDBOX", Sandbox.LANDLOCK.value: "reduced sandbox"}.get(kind, "")


def delayed_text(state: State) -> str:
    """The landed commits whose statements could not be written; empty: there are none."""
    if state.unstated is None:
        return ""
    late, why = state.unstated, state.unstated.why
    because = f": {shortened(inert(reason_text(why)), DELAY_CHARS)}" if why else ""
    return f"no statement yet about {counted(late.commits, 'landed commit')}{because}"
