"""`interlock footprints`: where tasks are expected to edit, why, and how that compares with what they did."""

from collections.abc import Iterator

import click

from interlock.events.finished import recall_all
from interlock.events.state import TaskState
from interlock.learn.drift import drift_of, drifts, forecast_of
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import read_project
from interlock.ui.plain import counted, one_line
from interlock.ui.queries.footprints import footprints_document, total_drift
from interlock.ui.queries.tasks import find
from interlock.ui.words.footprints import NAMED, drift_line, request_line
from interlock.ui.words.reasons import reason_text


@cli_command("footprints")
@click.argument("task", required=False)
def footprints_command(invocation: Invocation, task: str | None) -> None:
    """Show the paths that tasks are expected to edit, and compare them with those they edited.

    With TASK: each path with its probability and the reason, and what its agents asked for.
    For example: interlock footprints login
    """
    state = read_project(invocation).state
    tasks = [find(state, task)] if task else list(recall_all(state).tasks.values())
    lines = _one(tasks[0]) if task else _all(tasks)
    say_listing(invocation, lambda: footprints_document(tasks), lines)


def _all(tasks: list[TaskState]) -> Iterator[str]:
    shown = [task for task in tasks if forecast_of(task) or task.change.work]
    width = max((len(task.spec.id) for task in shown), default=0)
    for task in shown:
        yield f"{paint(task.spec.id.ljust(width), 'cyan')}  {_in_short(task)}"
    if not shown:
        note("no task declares `touches`, and no file was edited yet: the first `interlock run` learns it")
        return
    if found := drifts(tasks):
        yield f"in all: {drift_line(total_drift(found.values()))}"
    yield f"next: {paint(f'interlock footprints {shown[-1].spec.id}', 'cyan')}"


def _in_short(task: TaskState) -> str:
    drift = drift_of(task)
    if drift is None:
        likely = sorted(forecast_of(task), key=lambda chance: -chance.probability)[:NAMED]
        if task.change.work:
            return f"edited {counted(len(task.change.work.touched), 'file')}, none declared"
        return (
            f"expected in {', '.join(f'{one_line(each.path)} ({each.probability:.0%})' for each in likely)}"
        )
    return drift_line(drift)


def _one(task: TaskState) -> Iterator[str]:
    yield f"{paint(task.spec.id, 'cyan')}"
    forecast = forecast_of(task)
    width = max((len(chance.path) for chance in forecast), default=0)
    for chance in forecast:
        why = f": {reason_text(chance.why)}" if chance.why else ""
        yield f"  {chance.probability:>4.0%}  {one_line(chance.path).ljust(width)}  {chance.source}{why}"
    if not forecast and task.change.work is None:
        yield "  no expected paths"
    if not forecast and task.change.work:
        yield "  no paths were expected"
        yield from (f"    edited  {one_line(path)}" for path in task.change.work.touched)
    for asked in task.talk.requests:
        yield request_line(asked)
    if drift := drift_of(task):
        yield f"  {drift_line(drift)}"
        for path in drift.surprises:
            yield f"    {paint('unexpected', 'yellow')}  {one_line(path)}"
        for path in drift.idle:
            yield f"    {paint('not edited', 'yellow')}  {one_line(path)}"
    yield f"next: {paint(f'interlock show {task.spec.id}', 'cyan')}"
