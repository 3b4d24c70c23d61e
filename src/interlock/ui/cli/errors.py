"""`interlock errors`: the same failure in several tasks as one line, and what fixed it if anything did."""

from collections.abc import Iterator
from pathlib import Path

import click

from interlock.events.finished import recall_all
from interlock.events.state import State
from interlock.learn.errors import Errors, FailureGroup
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.attempt_files import openable
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.plain import counted, inert
from interlock.ui.queries.learned import SHOWN, failure_document, find_failure, next_step
from interlock.ui.reading import all_rows
from interlock.ui.words.facts import clock
from interlock.ui.words.reasons import reason_text


@click.command("errors", cls=CliCommand)
@click.argument("error", required=False, metavar="[ID]")
@click.option("--all", "everything", is_flag=True, help="Also show failures that no task has any more.")
@click.option("--run", "last_run", is_flag=True, help="Show only failures of the last run.")
@click.pass_obj
def errors_command(invocation: Invocation, error: str | None, everything: bool, last_run: bool) -> None:
    """Show each failure once: its tasks, its times, and the fix if there was one.

    With ID, show every occurrence. For example: interlock errors --run
    """
    state, found, folder = run_async(_read(invocation, last_run))
    if error is not None:
        _show_one(invocation, state, find_failure(found, error), folder)
        return
    shown = [trouble for trouble in found if everything or trouble.open]
    if invocation.wants_json():
        say_json([failure_document(state, trouble) for trouble in shown])
        return
    for trouble in shown:
        for line in _lines(state, trouble):
            say(line)
    if len(shown) < len(found):
        past = counted(len(found) - len(shown), "more failure" if shown else "failure")
        none = "" if shown else "no task is stuck; "
        note(f"{none}{past} that no task has any more: interlock errors --all")
    elif not found:
        note("no failures")


async def _read(invocation: Invocation, last_run: bool) -> tuple[State, list[FailureGroup], Path]:
    async with opened(invocation) as project:
        state = recall_all((await read(project.store)).state)
        errors = Errors(state, last_run, reason_text)
        async for row in all_rows(project.store):
            errors.add(row)
        return state, errors.troubles(), project.state_dir


def _lines(state: State, trouble: FailureGroup) -> Iterator[str]:
    color = "red" if trouble.open else "green"
    yield f"{trouble.id}  {paint(trouble.error, color)}: {inert(trouble.what)}"
    if trouble.example and trouble.what not in trouble.example:
        yield f"  in {trouble.tasks[0]}: {inert(trouble.example)}"
    first, last = clock(trouble.cases[0].time), clock(trouble.cases[-1].time)
    when = first if first == last else f"{first} to {last}"
    tasks = f"{counted(len(trouble.tasks), 'task')}, {counted(len(trouble.cases), 'time')}, {when}"
    yield f"  {tasks}: {_some(trouble.tasks)}"
    if endings := trouble.endings:
        yield f"  resolved: {_some(endings, '; ')}"
    if trouble.lesson:
        yield f"  lesson: interlock lessons {trouble.lesson}"
    yield f"  next: {paint(next_step(state, trouble), 'cyan')}"


def _some(names: tuple[str, ...], between: str = ", ") -> str:
    more = len(names) - SHOWN
    return between.join(names[:SHOWN]) + (f"{between}and {more} more" if more > 0 else "")


def _show_one(invocation: Invocation, state: State, trouble: FailureGroup, folder: Path) -> None:
    if invocation.wants_json():
        say_json(failure_document(state, trouble) | {"cases": trouble.cases})
        return
    for line in _lines(state, trouble):
        say(line)
    for case in trouble.cases:
        log = f"  {openable(folder, case.log)}" if case.log else ""
        past = f" ({case.ended})" if case.ended else ""
        where = f"{case.task} attempt {case.attempt}, {case.phase}"
        say(f"  {clock(case.time)}  {where}: {inert(case.summary)}{past}{log}")
