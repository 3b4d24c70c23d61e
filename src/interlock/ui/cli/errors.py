"""`interlock errors`: the same failure in several tasks as one line, and what fixed it if anything did."""

from collections.abc import Iterator
from pathlib import Path

import click

from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.learn.errors import Errors, Trouble
from interlock.model.errors import UsageError
from interlock.model.outcome import ErrorClass
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.queries.attempts import openable
from interlock.ui.reading import all_rows, read
from interlock.ui.words.facts import clock
from interlock.ui.words.plain import counted, inert
from interlock.ui.words.remedies import after_failure

SHOWN = 6
"""Tasks that are named in a line; the rest are counted."""
NEEDS_SETTING_UP = (ErrorClass.AUTH, ErrorClass.MISSING)


@click.command("errors", cls=Command)
@click.argument("error", required=False, metavar="[ID]")
@click.option("--all", "everything", is_flag=True, help="Also what every task is past.")
@click.option("--run", "last_run", is_flag=True, help="Only what happened in the last run.")
@click.pass_obj
def errors_command(invocation: Invocation, error: str | None, everything: bool, last_run: bool) -> None:
    """Show what goes wrong, each failure once: its tasks, since when, and what fixed it if anything did.

    With ID, every time that it happened. For example: interlock errors --run
    """
    state, found, folder = run_async(_read(invocation, last_run))
    if error is not None:
        _show_one(invocation, state, _pick(found, error), folder)
        return
    shown = [trouble for trouble in found if everything or trouble.open]
    if invocation.wants_json():
        say_json([_document(state, trouble) for trouble in shown])
        return
    for trouble in shown:
        for line in _lines(state, trouble):
            say(line)
    if len(shown) < len(found):
        past = counted(len(found) - len(shown), "more failure" if shown else "failure")
        none = "" if shown else "no task is stuck; "
        note(f"{none}{past} that every task is past: interlock errors --all")
    elif not found:
        note("nothing has failed")


async def _read(invocation: Invocation, last_run: bool) -> tuple[State, list[Trouble], Path]:
    async with opened(invocation) as project:
        state = (await read(project.store)).state
        errors = Errors(state, last_run)
        async for row in all_rows(project.store):
            errors.add(row)
        return state, errors.troubles(), project.state_dir


def _pick(found: list[Trouble], name: str) -> Trouble:
    fitting = [trouble for trouble in found if trouble.id.startswith(name)]
    if len(fitting) != 1:
        many = "more than one failure begins" if fitting else "no failure begins"
        raise UsageError(f"{many} with `{name}`", "`interlock errors --all` lists them")
    return fitting[0]


def _lines(state: State, trouble: Trouble) -> Iterator[str]:
    color = "red" if trouble.open else "green"
    yield f"{trouble.id}  {paint(trouble.error, color)}: {inert(trouble.what)}"
    if trouble.example and trouble.what not in trouble.example:
        yield f"  in {trouble.tasks[0]}: {inert(trouble.example)}"
    first, last = clock(trouble.cases[0].time), clock(trouble.cases[-1].time)
    when = first if first == last else f"{first} to {last}"
    tasks = f"{counted(len(trouble.tasks), 'task')}, {counted(len(trouble.cases), 'time')}, {when}"
    yield f"  {tasks}: {_some(trouble.tasks)}"
    if endings := trouble.endings:
        yield f"  past it: {_some(endings, '; ')}"
    if trouble.lesson:
        yield f"  learned from it: interlock lessons {trouble.lesson}"
    yield f"  next: {paint(_next(state, trouble), 'cyan')}"


def _some(names: tuple[str, ...], between: str = ", ") -> str:
    more = len(names) - SHOWN
    return between.join(names[:SHOWN]) + (f"{between}and {more} more" if more > 0 else "")


def _next(state: State, trouble: Trouble) -> str:
    """The one command that helps most."""
    failed = [name for name in trouble.open if state.tasks[name].stage is Stage.FAILED]
    if trouble.error in NEEDS_SETTING_UP:
        return after_failure(state.tasks[failed[0]]) if failed else "interlock doctor"
    if failed:
        return f"interlock retry {' '.join(failed[:SHOWN])}"
    if trouble.open:
        return f"interlock explain {trouble.open[0]}"
    return f"interlock show {trouble.tasks[-1]}"


def _document(state: State, trouble: Trouble) -> dict[str, object]:
    return {
        "id": trouble.id,
        "error": trouble.error,
        "what": trouble.what,
        "example": trouble.example or None,
        "tasks": trouble.tasks,
        "open": trouble.open,
        "times": len(trouble.cases),
        "first": trouble.cases[0].time,
        "last": trouble.cases[-1].time,
        "past_it": trouble.endings,
        "lesson": trouble.lesson or None,
        "next": _next(state, trouble),
    }


def _show_one(invocation: Invocation, state: State, trouble: Trouble, folder: Path) -> None:
    if invocation.wants_json():
        say_json(_document(state, trouble) | {"cases": trouble.cases})
        return
    for line in _lines(state, trouble):
        say(line)
    for case in trouble.cases:
        log = f"  {openable(folder, case.log)}" if case.log else ""
        past = f" ({case.ended})" if case.ended else ""
        where = f"{case.task} attempt {case.attempt}, {case.phase}"
        say(f"  {clock(case.time)}  {where}: {inert(case.summary)}{past}{log}")
