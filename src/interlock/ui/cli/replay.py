"""`interlock replay`: any past moment, as it was (D9, A19)."""

from datetime import UTC, datetime

import click

from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.learn.past import PastRun, past_runs
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.numbers import bounded
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, note, paint, say, say_json, say_line
from interlock.ui.cli.session import opened, run_async
from interlock.ui.cli.status import lines
from interlock.ui.plain import counted
from interlock.ui.queries.facts import fact_document
from interlock.ui.queries.runs import (
    find_run,
    position_at,
    reading_at,
    run_document,
    run_name,
)
from interlock.ui.queries.status import status_document
from interlock.ui.reading import all_rows
from interlock.ui.words.facts import line
from interlock.ui.words.progress import sentence
from interlock.ui.words.reasons import reason_text


@click.command("replay", cls=CliCommand)
@click.argument("run", required=False)
@click.option(
    "--at", "moment", metavar="FACT", help="The position of a fact, or a time of day like 14:05:30."
)
@click.option("--facts", is_flag=True, help="Show every fact of the run.")
@click.pass_obj
def replay_command(invocation: Invocation, run: str | None, moment: str | None, facts: bool) -> None:
    """List past runs; replay RUN (its number, the start of its name, or `last`), or show one moment of it.

    With --at: show every task as it was right after that fact, with the reasons of that time.
    For example: interlock replay last --at 120
    """
    run_async(_replay(invocation, run, moment, facts))


async def _replay(invocation: Invocation, name: str | None, moment: str | None, facts: bool) -> None:
    async with opened(invocation) as project:
        log = [row async for row in all_rows(project.store)]
        runs = past_runs(log)
        if name is None:
            if moment:
                raise UsageError("--at needs a run", "interlock replay last --at FACT")
            _list(invocation, runs)
            return
        run = find_run(runs, name)
        if moment is None:
            _again(invocation, log[run.first - 1 : run.last], facts)
        else:
            _then(invocation, log, position_at(log, run, moment))


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


def _again(invocation: Invocation, log: list[Recorded], facts: bool) -> None:
    """The run from its start to its end, as it was told then."""
    for row in log:
        if invocation.wants_json():
            say_line(fact_document(row))
        elif facts:
            say(line(row))
        elif said := sentence(row, State()):
            say(f"{row.seq:>6}  {paint(said[1], said[0]) if said[0] else said[1]}")


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
