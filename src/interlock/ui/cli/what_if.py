"""`interlock what-if`: simulate a past run with different settings (D9)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import click

from interlock.engine.foresight import Terms, drawn, quantile, rehearse
from interlock.engine.past_script import agents_of, as_it_stood, as_recorded, with_agent
from interlock.engine.rehearsal import Outlook, copied
from interlock.events.facts import PhaseStarted
from interlock.events.fold import fold
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.past import PastRun
from interlock.learn.prospects import prospect
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.nearest import suggest
from interlock.model.task import Agent
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.cli.status import run_name
from interlock.ui.queries.runs import LAST, find_run, runs_of
from interlock.ui.reading import all_rows
from interlock.ui.words.plain import counted

REHEARSALS = 60


@click.command("what-if", cls=Command)
@click.argument("run", default=LAST)
@click.option("--max-parallel", type=click.IntRange(min=1), help="With so many agents at once.")
@click.option("--agent", metavar="NAME", help="With this agent for every task, as far as it is known.")
@click.pass_obj
def what_if_command(invocation: Invocation, run: str, max_parallel: int | None, agent: str | None) -> None:
    """Simulate a past RUN (its number, the start of its name, or `last`) with different settings.

    The schedule is the real one; every attempt takes as long, costs as much and ends as it did. With --agent
    that follows from what the log knows of that agent, and is drawn many times. Nothing is started.
    For example: interlock what-if --max-parallel 8
    """
    if max_parallel is None and agent is None:
        raise UsageError("say what is to be different", "interlock what-if --max-parallel 8")
    run_async(_what_if(invocation, run, max_parallel, agent))


@dataclass(frozen=True, slots=True)
class Case:
    """One way the run went, or could have gone."""

    name: str
    seconds_p50: float
    seconds_p90: float
    cost_usd: float | None
    """None: nothing in the log says what an attempt costs."""
    attempts: float
    landed: float


async def _what_if(invocation: Invocation, name: str, slots: int | None, agent: str | None) -> None:
    async with opened(invocation) as project:
        run = find_run(await runs_of(project.store), name)
        log = [row async for row in all_rows(project.store)]
    if not run.attempts:
        raise UsageError(f"no agent worked in run {run_name(run.run)}", "interlock replay lists the runs")
    cases = [_recorded(run), *_rehearsed(log, run, slots, agent)]
    if invocation.wants_json():
        say_json({"run": run.run, "slots": run.slots, "cases": cases})
        return
    for line in _lines(run, cases):
        say(line)
    same = cases[1].seconds_p50 / max(cases[0].seconds_p50, 1e-9)
    if agent:
        tried = sum(isinstance(row.fact, PhaseStarted) and row.fact.agent == agent for row in log)
        note(f"the log has {counted(tried, 'attempt')} of {agent}; with few it is more of a guess")
    note(f"with its own numbers the rehearsal takes {same:.2f} times what the run took: trust it that far")


def _recorded(run: PastRun) -> Case:
    return Case("as it was", run.seconds, run.seconds, run.cost_usd, run.attempts, run.landed)


def _rehearsed(log: Sequence[Recorded], run: PastRun, slots: int | None, agent: str | None) -> list[Case]:
    state = as_it_stood(log, run)
    terms = Terms(run.started, run.slots, run.selection, lane_depth=run.lane_depth)
    same, is_priced = [rehearse(copied(state), terms, as_recorded(run))], run.cost_usd is not None
    cases = [_case("rehearsed with the same numbers", same, is_priced)]
    other = copied(state)
    if slots:
        other.clutch = {}  # what was learned per kind of work is what is being asked about
        terms = replace(terms, slots=slots)
    if agent is None:
        outlooks = [rehearse(other, terms, as_recorded(run))]
    else:
        other.tallies = fold(log).tallies  # that run itself, and what came after, tell of the agent too
        other = with_agent(other, _agent(other, agent))
        is_priced = any(prospect(other.tasks[name], other.tallies).cost_usd for name in run.tries)
        outlooks = [rehearse(copied(other), terms, drawn(other, str(number))) for number in range(REHEARSALS)]
    said = [f"--max-parallel {slots}"] * bool(slots) + [f"--agent {agent}"] * bool(agent)
    return [*cases, _case(f"with {' '.join(said)}", outlooks, is_priced)]


def _agent(state: State, name: str) -> Agent:
    agents = agents_of(state)
    if name not in agents:
        raise UsageError(
            f"no task of that run names an agent `{name}`",
            suggest(name, tuple(agents), f"they name {', '.join(sorted(agents))}"),
        )
    return agents[name]


def _case(name: str, outlooks: Sequence[Outlook], is_priced: bool) -> Case:
    seconds = sorted(outlook.seconds for outlook in outlooks)
    count = len(outlooks)
    return Case(
        name,
        quantile(seconds, 0.5),
        quantile(seconds, 0.9),
        sum(outlook.cost_usd for outlook in outlooks) / count if is_priced else None,
        sum(outlook.attempts for outlook in outlooks) / count,
        sum(len(outlook.ends) for outlook in outlooks) / count,
    )


def _lines(run: PastRun, cases: Sequence[Case]) -> list[str]:
    width = max(len(case.name) for case in cases)
    base = cases[1].seconds_p50 or 1e-9
    lines = [f"run {run_name(run.run)}, up to {run.slots} at once"]
    for number, case in enumerate(cases):
        spread = (
            f" (9 of 10 under {lasting(case.seconds_p90)})" if case.seconds_p90 > case.seconds_p50 else ""
        )
        ratio = f", {case.seconds_p50 / base:.2g} times as long" if number > 1 else ""
        cost = f", ${case.cost_usd:.2f}" if case.cost_usd is not None else ""
        attempts = counted(round(case.attempts), "attempt")
        lines.append(
            f"  {case.name:{width}}  {lasting(case.seconds_p50):>7}{spread}{ratio}, "
            f"{attempts}, {case.landed:.0f} landed{cost}"
        )
    return lines
