"""`interlock footprints`: where tasks are expected to edit, why, and how that compares with what they did."""

from collections.abc import Iterable, Iterator

import click

from interlock.events.asked import ScopeRequest
from interlock.events.state import State, TaskState
from interlock.learn.drift import Drift, drift_of, drifts, forecast_of
from interlock.model.forecast import Chance
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.queries.tasks import find
from interlock.ui.reading import read
from interlock.ui.words.plain import counted, inert

NAMED = 3
"""Surprises that are named in a line of their task."""


@click.command("footprints", cls=Command)
@click.argument("task", required=False)
@click.pass_obj
def footprints_command(invocation: Invocation, task: str | None) -> None:
    """Show where tasks are expected to edit, and how far what they edited was from that.

    With TASK: each path with its probability and the reason, and what its agents asked for.
    For example: interlock footprints login
    """
    state = run_async(_read(invocation))
    tasks = [find(state, task)] if task else list(state.tasks.values())
    if invocation.wants_json():
        total = _total(drifts(tasks).values())
        say_json({"tasks": [_document(one) for one in tasks], "drift": drift_document(total)})
        return
    for line in _one(tasks[0]) if task else _all(tasks):
        say(line)


async def _read(invocation: Invocation) -> State:
    async with opened(invocation) as project:
        return (await read(project.store)).state


def _all(tasks: list[TaskState]) -> Iterator[str]:
    shown = [task for task in tasks if forecast_of(task) or task.work]
    width = max((len(task.spec.id) for task in shown), default=0)
    for task in shown:
        yield f"{paint(task.spec.id.ljust(width), 'cyan')}  {_in_short(task)}"
    if not shown:
        note("no task says what it touches, and nothing was edited yet: a first `interlock run` teaches it")
        return
    if found := drifts(tasks):
        yield f"in all: {drift_line(_total(found.values()))}"
    yield f"next: {paint(f'interlock footprints {shown[-1].spec.id}', 'cyan')}"


def _in_short(task: TaskState) -> str:
    drift = drift_of(task)
    if drift is None:
        likely = sorted(forecast_of(task), key=lambda chance: -chance.probability)[:NAMED]
        edited = (
            f"edited {counted(len(task.work.touched), 'file')}, of which nothing was said"
            if task.work
            else ""
        )
        return edited or f"expected in {', '.join(_with_percent(chance) for chance in likely)}"
    return drift_line(drift)


def _one(task: TaskState) -> Iterator[str]:
    yield f"{paint(task.spec.id, 'cyan')}"
    forecast = forecast_of(task)
    width = max((len(chance.path) for chance in forecast), default=0)
    for chance in forecast:
        why = f": {inert(chance.why)}" if chance.why else ""
        yield f"  {chance.probability:>4.0%}  {inert(chance.path).ljust(width)}  {chance.source}{why}"
    if not forecast and task.work is None:
        yield "  nothing is known of where it will edit"
    if not forecast and task.work:
        yield "  nothing was known of where it would edit"
        yield from (f"    edited  {inert(path)}" for path in task.work.touched)
    for asked in task.requests:
        yield request_line(asked)
    if drift := drift_of(task):
        yield f"  {drift_line(drift)}"
        for path in drift.surprises:
            yield f"    {paint('unexpected', 'yellow')}  {inert(path)}"
        for path in drift.idle:
            yield f"    {paint('not edited', 'yellow')}  {inert(path)}"
    yield f"next: {paint(f'interlock show {task.spec.id}', 'cyan')}"


def request_line(asked: ScopeRequest) -> str:
    """What an agent wanted to edit, and what it was told."""
    verdict = {True: "granted", False: "refused", None: "not answered"}[asked.granted]
    answer = f": {asked.answer}" if asked.answer else ""
    why = f" ({inert(asked.why)})" if asked.why else ""
    return f"  attempt {asked.attempt} asked for {inert(', '.join(asked.paths))}{why}: {verdict}{answer}"


def drift_line(drift: Drift) -> str:
    """Forecast and fact in one line."""
    also = ", ".join(map(inert, drift.surprises[:NAMED])) + (", ..." if len(drift.surprises) > NAMED else "")
    foreseen = f"{drift.foreseen} of {counted(drift.touched, 'edited file')} expected"
    edited = f"{drift.edited} of {counted(drift.expected, 'expected path')} edited"
    return f"{foreseen}, {edited}" + (f"; also {also}" if also else "")


def drift_document(drift: Drift | None) -> dict[str, object] | None:
    """The same for programs."""
    if drift is None:
        return None
    return {
        "expected": drift.expected,
        "edited": drift.edited,
        "touched": drift.touched,
        "foreseen": drift.foreseen,
        "precision": drift.precision,
        "recall": drift.recall,
        "surprises": drift.surprises,
        "idle": drift.idle,
    }


def _document(task: TaskState) -> dict[str, object]:
    return {
        "id": task.spec.id,
        "stage": task.stage,
        "forecast": forecast_of(task),
        "touched": task.work.touched if task.work else None,
        "scope": task.scope,
        "requests": task.requests,
        "drift": drift_document(drift_of(task)),
    }


def _total(found: Iterable[Drift]) -> Drift:
    return sum(found, Drift())


def _with_percent(chance: Chance) -> str:
    return f"{inert(chance.path)} ({chance.probability:.0%})"
