"""`interlock queue`: the merge train, and what a person may change in it."""

from collections.abc import Iterator, Sequence

import click

from interlock.engine.loading import catch_up
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.task import PhaseKind
from interlock.ui.actions.tasks import bump, cancel, pause, unpause
from interlock.ui.checks_at_work import checks_begun
from interlock.ui.cli.app import CommandGroup
from interlock.ui.cli.output import Invocation, note, paint, say_listing, say_result
from interlock.ui.cli.session import actor, opened, read, run_async
from interlock.ui.plain import inert, one_line, shortened
from interlock.ui.queries.queue import QueueRow, QueueView, queue_view
from interlock.ui.queries.queue_checks import QueueCheck
from interlock.ui.queries.tasks import find

COMMAND_SHOWN = 60
COLORS = {"landing": "green", "built": "green", "failed-early": "yellow", "held": "yellow"}


@click.group("queue", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def queue_command(context: click.Context) -> None:
    """Show the changes on their way to main; hold, drop or bump one of them.

    For example: interlock queue bump login
    """
    if context.invoked_subcommand is None:
        run_async(_list(context.obj))


@queue_command.command("ls")
@click.pass_obj
def list_queue(invocation: Invocation) -> None:
    """Show each change with its place, what it is tested on top of, and when it will probably land.

    For example: interlock queue ls --json
    """
    run_async(_list(invocation))


async def _list(invocation: Invocation) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        view = queue_view(reading, checks_begun(reading, project.state_dir))
    say_listing(invocation, lambda: view, _lines(view))


def _lines(view: QueueView) -> Iterator[str]:
    if not view.queue:
        note("no change waits to land" + ("" if view.live else "; no run is active"))
    for row in view.queue:
        yield _line(row)
        if any(check.state != "waiting" for check in row.checks):
            yield f"   {'; '.join(_check(check, view.time) for check in row.checks)}"
    for each in view.sent_back:
        text = one_line(inert(each.text)) + (f"; output: {each.log}" if each.log else "")
        what = "sent back" if each.error else "dropped"
        yield f"{paint(what, 'yellow')}  {each.task} (attempt {each.attempt}): {text}"


def _line(row: QueueRow) -> str:
    soon = f", lands in about {lasting(row.lands_in_seconds)}" if row.lands_in_seconds is not None else ""
    state = paint(row.state, COLORS.get(row.state, "cyan"))
    likely = f", {row.holds:.0%} likely to count" if row.holds is not None else ""
    return f"{row.place}. {row.task}  {state}: {row.reason['text']}{likely}{soon}"


def _check(check: QueueCheck, now: float) -> str:
    seconds = now - check.since if check.since is not None else check.seconds
    took = f" {lasting(max(0.0, seconds))}" if seconds is not None and check.state != "reused" else ""
    expected = check.expected_seconds if check.since is not None else None
    usual = f" of about {lasting(expected)}" if expected and expected >= 1 else ""
    name = shortened(one_line(inert(check.command)), COMMAND_SHOWN)
    return f"`{name}` {check.state}{took}{usual}"


@queue_command.command("hold")
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--why", default="", help="Why, for the log and for `explain`.")
@click.pass_obj
def hold(invocation: Invocation, tasks: tuple[str, ...], why: str) -> None:
    """Keep changes of TASKS from landing until `interlock queue release`; those behind them go on.

    For example: interlock queue hold login -m "not before the release"
    """
    run_async(_change(invocation, tasks, "hold", why))


@queue_command.command("release")
@click.argument("tasks", nargs=-1, required=True)
@click.pass_obj
def release(invocation: Invocation, tasks: tuple[str, ...]) -> None:
    """Let held changes of TASKS go on to main.

    For example: interlock queue release login
    """
    run_async(_change(invocation, tasks, "release", ""))


@queue_command.command("drop")
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--why", default="", help="Why, for the log.")
@click.pass_obj
def drop(invocation: Invocation, tasks: tuple[str, ...], why: str) -> None:
    """Cancel TASKS: their changes do not land. The work is kept, and `interlock retry` starts them again.

    For example: interlock queue drop login -m "we do not want it any more"
    """
    run_async(_change(invocation, tasks, "drop", why))


@queue_command.command("bump")
@click.argument("task")
@click.pass_obj
def bump_command(invocation: Invocation, task: str) -> None:
    """Move the change of TASK to the front of the queue.

    For example: interlock queue bump login
    """
    run_async(_change(invocation, [task], "bump", ""))


DONE = {
    "hold": "is held: {1} until `interlock queue release {0}`",
    "release": "goes on to main",
    "drop": "is cancelled; `interlock retry {0}` starts it again",
    "bump": "is first in the queue",
}


def _held(task: TaskState) -> str:
    """What does not happen while a task is held. An agent at work goes on."""
    if task.phase.kind is not PhaseKind.AGENT:
        return "it does not land"
    if task.stage is Stage.RUNNING:
        return "its agent goes on, and its change does not land"
    return "it has no finished change, and no agent starts on it"


async def _change(invocation: Invocation, names: Sequence[str], deed: str, why: str) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        tasks = [find(reading.state, name) for name in names]
        for task in tasks:
            name = task.spec.id
            match deed:
                case "hold":
                    await pause(project.store, reading, name, why, actor())
                case "release":
                    await unpause(project.store, reading, name, actor())
                case "drop":
                    await cancel(project.store, [task], why, actor())
                case _:
                    await bump(project.store, reading, name, actor())
        await catch_up(project.store, reading.state)
    done = [f"{task.spec.id} {DONE[deed].format(task.spec.id, _held(task))}" for task in tasks]
    say_result(invocation, {"tasks": [task.spec.id for task in tasks], "done": deed}, *done)
