"""`pause` and `unpause`, for a task or for everything. What runs already goes on."""

import click

from interlock.model.task import TaskId
from interlock.ui.actions.pauses import pause, unpause
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, say, say_json
from interlock.ui.cli.session import actor, opened, read, run_async
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading


@click.command("pause", cls=CliCommand)
@click.argument("task", required=False)
@click.option("-m", "--why", default="", help="Why, for the log and for `explain`.")
@click.pass_obj
def pause_command(invocation: Invocation, task: str | None, why: str) -> None:
    """Pause the project, or TASK: nothing new starts. Running attempts continue.

    For example: interlock pause -m "deploying"
    """
    run_async(_pause(invocation, task, why))


@click.command("unpause", cls=CliCommand)
@click.argument("task", required=False)
@click.pass_obj
def unpause_command(invocation: Invocation, task: str | None) -> None:
    """Unpause TASK, or the project.

    For example: interlock unpause login
    """
    run_async(_unpause(invocation, task))


async def _pause(invocation: Invocation, name: str | None, why: str) -> None:
    async with opened(invocation, create=True) as project:
        reading = await read(project.store)
        task = _named(reading, name)
        await pause(project.store, reading, task, why, actor())
    _report(invocation, task, paused=True)
    if not invocation.json:
        say(f"next: interlock unpause{f' {task}' if task else ''}, to continue")


async def _unpause(invocation: Invocation, name: str | None) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        task = _named(reading, name)
        await unpause(project.store, reading, task, actor())
    _report(invocation, task, paused=False)
    if not invocation.json and not reading.is_live:
        say("next: interlock run")


def _named(reading: Reading, name: str | None) -> TaskId | None:
    return None if name is None else find(reading.state, name).spec.id


def _report(invocation: Invocation, task: TaskId | None, paused: bool) -> None:
    if invocation.json:
        say_json({"task": task, "paused": paused})
    elif paused:
        held = f"{task} is paused: it does not start" if task else "the project is paused: no task starts"
        say(f"{held} until you unpause it")
    else:
        say(f"{task or 'the project'} is unpaused")
