"""`interlock replay` and `what-if`: past runs as they were, or with different settings (D9, A19)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import click

from interlock.events.facts import PhaseStarted
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.past import PastRun, past_runs
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.numbers import bounded
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say, say_json, say_line, say_listing
from interlock.ui.cli.session import opened, run_async
from interlock.ui.cli.status import lines
from interlock.ui.cli.timelines import timeline_lines
from interlock.ui.plain import counted
from interlock.ui.queries.facts import fact_document
from interlock.ui.queries.runs import (
    LAST,
    find_run,
    position_at,
    position_in,
    reading_at,
    run_document,
    run_name,
)
from interlock.ui.queries.status import status_document
from interlock.ui.queries.timeline import Plan, Runs, Timeline, timeline_document
from interlock.ui.queries.what_if import RunVariant, recorded_case, simulated_cases, what_if_document
from interlock.ui.reading import all_rows
from interlock.ui.words.facts import line
from interlock.ui.words.progress import sentence
from interlock.ui.words.reasons import reason_text


@cli_command("replay")
@click.argument("run", required=False)
@click.option(
    "--at", "moment", metavar="FACT", help="The position of a fact, or a time of day like 14:05:30."
)
@click.option("--timeline", "draws", is_flag=True, help="Draw what each task did over time.")
def replay_command(invocation: Invocation, run: str | None, moment: str | None, draws: bool) -> None:
    """List past runs; replay RUN (its number, the start of its name, or `last`), or show one moment of it.

    With --at: show every task as it was right after that fact, with the reasons of that time. RUN may lack.
    For example: interlock replay last --at 120
    """
    log = run_async(_read_log(invocation))
    if run is None and moment:
        _then(invocation, log, position_in(log, moment))
        return
    if draws:
        _draw(invocation, log, run or LAST)
        return
    if run is None:
        _list(invocation, past_runs(log))
        return
    found = find_run(past_runs(log), run)
    if moment is None:
        _again(invocation, log[found.first - 1 : found.last])
    else:
        _then(invocation, log, position_at(log, found, moment))


async def _read_log(invocation: Invocation) -> list[Recorded]:
    async with opened(invocation) as project:
        return [row async for row in all_rows(project.store)]


def _list(invocation: Invocation, runs: list[PastRun]) -> None:
    if invocation.wants_json():
        say_json([run_document(run, number) for number, run in enumerate(runs, 1)])
        return
    if not runs:
        note("no run in this repository yet; next: interlock run")
        return
    for number, run in enumerate(runs, 1):
        began = datetime.fromtimestamp(bounded(run.started), UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        what = (
            f"{counted(run.landed, 'task')} landed, {run.failed} failed, {counted(run.attempts, 'attempt')}"
        )
        how = reason_text(run.why) or "interrupted"
        say(f"{number:>4}  {began}  {lasting(run.seconds):>7}  {what}, {how}  {run_name(run.run)}")
    note("next: interlock replay last, or interlock replay NUMBER --at FACT")


def _again(invocation: Invocation, log: list[Recorded]) -> None:
    """The run from its start to its end, as it was told then."""
    for row in log:
        if invocation.wants_json():
            say_line(fact_document(row))
        elif said := sentence(row, State()):
            say(f"{row.seq:>6}  {paint(said[1], said[0]) if said[0] else said[1]}")


def _draw(invocation: Invocation, log: list[Recorded], name: str) -> None:
    """The activities of each task of a run, with their times."""
    place = find_run(past_runs(log), name).first
    known, found = Read(), Timeline()
    for row in log:
        known.runs.add(row)
        known.plan.add(row)
    run = next(each for each in known.runs.found if each.first == place)
    for row in log[run.first - 1 : run.last]:
        found.add(row)
    document = timeline_document(known, run, found, reading_at(log, len(log)), {})
    say_listing(invocation, lambda: document, timeline_lines(document))


@dataclass(slots=True)
class Read:
    """The runs and the plan of a whole log."""

    runs: Runs = field(default_factory=Runs)
    plan: Plan = field(default_factory=Plan)


def _then(invocation: Invocation, log: list[Recorded], position: int) -> None:
    """Every task as it stood right after a fact."""
    reading = reading_at(log, position)
    if invocation.wants_json():
        say_json(status_document(reading))
        return
    say(f"after fact {line(log[position - 1]).strip()}")
    for text in lines(reading, everything=True):
        say(text)
    ahead = f"--at {position + 1}" if position < len(log) else "(this is the end of the log)"
    note(f"one fact later: {ahead}")


@cli_command("what-if")
@click.argument("run", default=LAST)
@click.option("--max-parallel", type=click.IntRange(min=1), help="Use this many agents at once.")
@click.option("--agent", metavar="NAME", help="Use this agent for every task.")
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
    log = run_async(_read_log(invocation))
    found = find_run(past_runs(log), run)
    if not found.attempts:
        raise UsageError(f"no agent worked in run {run_name(found.run)}", "interlock replay lists the runs")
    cases = [recorded_case(found), *simulated_cases(log, found, max_parallel, agent)]
    say_listing(invocation, lambda: what_if_document(found, cases), _variant_lines(found, cases))
    if invocation.wants_json():
        return
    same = cases[1].seconds_p50 / max(cases[0].seconds_p50, 1e-9)
    if agent:
        tried = sum(isinstance(row.fact, PhaseStarted) and row.fact.agent == agent for row in log)
        note(
            f"the log has {counted(tried, 'attempt')} of {agent}; with few attempts this is a rough estimate"
        )
    note(f"with the same settings the simulation takes {same:.2f} times the recorded time")


def _variant_lines(run: PastRun, cases: Sequence[RunVariant]) -> list[str]:
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
