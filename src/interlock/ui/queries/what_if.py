"""A past run simulated with different settings, by the code that schedules a real one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.engine.foresight import Terms, drawn, quantile, rehearse
from interlock.engine.past_script import agents_of, as_it_stood, as_recorded, with_agent
from interlock.engine.rehearsal import Outlook, copied
from interlock.events.fold import fold
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.past import PastRun
from interlock.learn.prospects import prospect
from interlock.model.errors import UsageError
from interlock.model.nearest import suggest
from interlock.model.task import Agent

REHEARSALS = 60


@dataclass(frozen=True, slots=True)
class RunVariant:
    """One way the run went, or could have gone."""

    name: str
    seconds_p50: float
    seconds_p90: float
    cost_usd: float | None
    """None: nothing in the log says what an attempt costs."""
    attempts: float
    landed: float


def recorded_case(run: PastRun) -> RunVariant:
    return RunVariant("recorded", run.seconds, run.seconds, run.cost_usd, run.attempts, run.landed)


def simulated_cases(
    log: Sequence[Recorded], run: PastRun, slots: int | None, agent: str | None
) -> list[RunVariant]:
    state = as_it_stood(log, run)
    terms = Terms(run.started, run.slots, run.selection, lane_depth=run.lane_depth)
    same, is_priced = [rehearse(copied(state), terms, as_recorded(run))], run.cost_usd is not None
    cases = [_case("simulated, same settings", same, is_priced)]
    other = copied(state)
    if slots:
        other.limits.categories = {}  # what was learned per kind of work is what is being asked about
        terms = replace(terms, slots=slots)
    if agent is None:
        outlooks = [rehearse(other, terms, as_recorded(run))]
    else:
        other.learned.tallies = fold(log).learned.tallies  # that run itself, and those after it, count too
        other = with_agent(other, _agent(other, agent))
        known = [task for name in run.tries if (task := other.tasks.get(name))]
        is_priced = any(prospect(task, other.learned.tallies).cost_usd for task in known)
        outlooks = [rehearse(copied(other), terms, drawn(other, str(number))) for number in range(REHEARSALS)]
    said = [f"--max-parallel {slots}"] * bool(slots) + [f"--agent {agent}"] * bool(agent)
    return [*cases, _case(f"simulated, {' '.join(said)}", outlooks, is_priced)]


def what_if_document(run: PastRun, cases: Sequence[RunVariant]) -> dict[str, object]:
    return {"run": run.run, "slots": run.slots, "cases": cases}


def _agent(state: State, name: str) -> Agent:
    agents = agents_of(state)
    if name not in agents:
        raise UsageError(
            f"no task of that run names an agent `{name}`",
            suggest(name, tuple(agents), f"they name {', '.join(sorted(agents))}"),
        )
    return agents[name]


def _case(name: str, outlooks: Sequence[Outlook], is_priced: bool) -> RunVariant:
    seconds = sorted(outlook.seconds for outlook in outlooks)
    count = len(outlooks)
    return RunVariant(
        name,
        quantile(seconds, 0.5),
        quantile(seconds, 0.9),
        sum(outlook.cost_usd for outlook in outlooks) / count if is_priced else None,
        sum(outlook.attempts for outlook in outlooks) / count,
        sum(len(outlook.ends) for outlook in outlooks) / count,
    )
