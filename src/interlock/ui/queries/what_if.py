"""A past run simulated with different settings, by the code that schedules a real one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.engine.foresight import Terms, rehearse
from interlock.engine.past_script import as_it_stood, as_recorded
from interlock.engine.rehearsal import Outlook, copied
from interlock.events.record import Recorded
from interlock.learn.past import PastRun


@dataclass(frozen=True, slots=True)
class RunVariant:
    """One way the run went, or could have gone."""

    name: str
    seconds: float
    cost_usd: float | None
    """None: nothing in the log says what an attempt costs."""
    attempts: int
    landed: int


def recorded_case(run: PastRun) -> RunVariant:
    return RunVariant("recorded", run.seconds, run.cost_usd, run.attempts, run.landed)


def simulated_cases(log: Sequence[Recorded], run: PastRun, slots: int) -> list[RunVariant]:
    state, is_priced = as_it_stood(log, run), run.cost_usd is not None
    terms = Terms(run.started, run.slots, run.selection, lane_depth=run.lane_depth)
    same = rehearse(copied(state), terms, as_recorded(run))
    state.clutch = {}  # what was learned per kind of work is what is being asked about
    other = rehearse(state, replace(terms, slots=slots), as_recorded(run))
    return [
        _case("simulated, same settings", same, is_priced),
        _case(f"simulated, --max-parallel {slots}", other, is_priced),
    ]


def what_if_document(run: PastRun, cases: Sequence[RunVariant]) -> dict[str, object]:
    """The document of `interlock what-if`."""
    return {"run": run.run, "slots": run.slots, "cases": cases}


def _case(name: str, outlook: Outlook, is_priced: bool) -> RunVariant:
    cost = outlook.cost_usd if is_priced else None
    return RunVariant(name, outlook.seconds, cost, outlook.attempts, len(outlook.ends))
