"""`interlock what-if`: simulate a past run with different settings (D9)."""

from collections.abc import Sequence

import click

from interlock.events.facts import PhaseStarted
from interlock.learn.past import PastRun, past_runs
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.plain import counted
from interlock.ui.queries.runs import LAST, find_run, run_name
from interlock.ui.queries.what_if import RunVariant, recorded_case, simulated_cases
from interlock.ui.reading import all_rows


@click.command("what-if", cls=CliCommand)
@click.argument("run", default=LAST)
@click.option("--max-parallel", type=click.IntRange(min=1), help="Use this many agents at once.")
@click.option("--agent", metavar="NAME", help="Use this agent for every task.")
@click.pass_obj
def what_if_command(invocation: Invocation, run: str, max_parallel: int | None, agent: str | None) -> None:
    """Simulate a past RUN (its number, the start of its name, or `last`) with different settings.

    The scheduler is the real one; every attempt takes as long, costs as much and ends as it did. With --agent
    times, costs and results are drawn many times from the log of that agent. No agent is started.
    For example: interlock what-if --max-parallel 8
    """
    if max_parallel is None and agent is None:
        raise UsageError(
            "no setting to change: use --max-parallel or --agent", "interlock what-if --max-parallel 8"
        )
    run_async(_what_if(invocation, run, max_parallel, agent))


async def _what_if(invocation: Invocation, name: str, slots: int | None, agent: str | None) -> None:
    async with opened(invocation) as project:
        log = [row async for row in all_rows(project.store)]
    run = find_run(past_runs(log), name)
    if not run.attempts:
        raise UsageError(f"no agent worked in run {run_name(run.run)}", "interlock replay lists the runs")
    cases = [recorded_case(run), *simulated_cases(log, run, slots, agent)]
    if invocation.wants_json():
        say_json({"run": run.run, "slots": run.slots, "cases": cases})
        return
    for line in _lines(run, cases):
        say(line)
    same = cases[1].seconds_p50 / max(cases[0].seconds_p50, 1e-9)
    if agent:
        tried = sum(isinstance(row.fact, PhaseStarted) and row.fact.agent == agent for row in log)
        note(
            f"the log has {counted(tried, 'attempt')} of {agent}; with few attempts this is a rough estimate"
        )
    note(f"with the same settings the simulation takes {same:.2f} times the recorded time")


def _lines(run: PastRun, cases: Sequence[RunVariant]) -> list[str]:
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
