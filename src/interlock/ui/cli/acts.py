"""The commands that change tasks. Each adds facts; the running loop acts on them."""

from collections.abc import Awaitable, Callable, Sequence

import click

from interlock.engine.loading import catch_up, load_state
from interlock.engine.project import open_project
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.model.task import Origin, OriginKind, TaskId
from interlock.store.protocol import Store
from interlock.ui.actions.observed import record_lost_landings
from interlock.ui.actions.tasks import add_task, cancel, pause, reset, retry, stop_run, unpause
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say_result
from interlock.ui.cli.session import actor, opened, read
from interlock.ui.queries.runs import run_name
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading, look

Act = Callable[[Store, Sequence[TaskState], str, str], Awaitable[None]]


@cli_command("retry")
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--note", default="", help="A note for the next attempt.")
async def retry_command(invocation: Invocation, tasks: tuple[str, ...], note: str) -> None:
    """Give failed or cancelled TASKS new attempts, with what went wrong as feedback.

    If a task asks a question, -m answers it.

    For example: interlock retry login -m "use the new table"
    """
    await _act(invocation, tasks, retry, note, "starts again")


@cli_command("reset")
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--why", default="", help="Why, for the log.")
async def reset_command(invocation: Invocation, tasks: tuple[str, ...], why: str) -> None:
    """Release stuck TASKS and start them again from the beginning.

    For example: interlock reset login -m "it waits for a server that is gone"
    """
    await _act(invocation, tasks, reset, why, "was reset and starts again")


@cli_command("cancel")
@click.argument("tasks", nargs=-1, metavar="[TASK|RUN]...")
@click.option(
    "--all", "everything", is_flag=True, help="Stop the whole run and its agents; their work is kept."
)
@click.option("-m", "--why", default="", help="Why, for the log.")
async def cancel_command(invocation: Invocation, tasks: tuple[str, ...], everything: bool, why: str) -> None:
    """Cancel tasks, or stop a whole run. The work of its agents so far is archived.

    For example: interlock cancel login
    """
    if everything == bool(tasks):
        raise UsageError(
            "nothing to cancel: name tasks or use --all", "interlock cancel TASK, or interlock cancel --all"
        )
    if everything or await _is_run(invocation, tasks):
        await _stop_run(invocation, why)
    else:
        await _act(invocation, tasks, cancel, why, "is cancelled")


async def _act(invocation: Invocation, names: Sequence[str], act: Act, why: str, done: str) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        await record_lost_landings(project.store, reading, project.state_dir.parent, actor())
        chosen = [find(reading.state, name) for name in names]
        await act(project.store, chosen, why, actor())
        await catch_up(project.store, reading.state)
    _report(invocation, reading, chosen, done)


def _report(invocation: Invocation, reading: Reading, chosen: Sequence[TaskState], done: str) -> None:
    """Print the new state of the tasks, which the fold has just changed, and the next command."""
    stands = [{"id": task.spec.id, "state": task.stage.value} for task in chosen]
    lines = []
    for task in chosen:
        lines.append(f"{task.spec.id} {done}")
        needed = reading.state.index.dependents
        waiting = needed.get(task.spec.id, []) if task.stage is Stage.CANCELLED else []
        if waiting:
            lines.append(f"  blocked: {', '.join(waiting)} (they need it)")
    if any(task.stage is Stage.WAITING for task in chosen):
        lines.append(_taken_up(reading.is_live))
    say_result(invocation, {"tasks": stands, "live": reading.is_live}, *lines)


def _taken_up(is_live: bool) -> str:
    return "the active run takes it up" if is_live else "next: interlock run"


async def _is_run(invocation: Invocation, words: Sequence[str]) -> bool:
    async with opened(invocation) as project:
        run = (await load_state(project.store)).run
    return run is not None and len(words) == 1 and words[0] in (run.run, run_name(run.run))


async def _stop_run(invocation: Invocation, why: str) -> None:
    async with opened(invocation) as project:
        run = await stop_run(project.store, await read(project.store), why, actor())
    say_result(
        invocation,
        {"run": run, "stopping": True},
        f"run {run_name(run)} stops its agents and archives their work",
        "next: interlock wait, then interlock run to continue",
    )


@cli_command("pause")
@click.argument("task", required=False)
@click.option("-m", "--why", default="", help="Why, for the log and for `explain`.")
async def pause_command(invocation: Invocation, task: str | None, why: str) -> None:
    """Pause the project, or TASK: nothing new starts. Running attempts continue.

    For example: interlock pause -m "deploying"
    """
    async with opened(invocation, create=True) as project:
        reading = await read(project.store)
        named = _named(reading, task)
        await pause(project.store, reading, named, why, actor())
    held = f"{named} is paused: it does not start" if named else "the project is paused: no task starts"
    after = f"next: interlock unpause{f' {named}' if named else ''}, to continue"
    say_result(invocation, {"task": named, "paused": True}, f"{held} until you unpause it", after)


@cli_command("unpause")
@click.argument("task", required=False)
async def unpause_command(invocation: Invocation, task: str | None) -> None:
    """Unpause TASK, or the project.

    For example: interlock unpause login
    """
    async with opened(invocation) as project:
        reading = await read(project.store)
        named = _named(reading, task)
        await unpause(project.store, reading, named, actor())
    after = [] if reading.is_live else ["next: interlock run"]
    lines = (f"{named or 'the project'} is unpaused", *after)
    say_result(invocation, {"task": named, "paused": False}, *lines)


def _named(reading: Reading, name: str | None) -> TaskId | None:
    return None if name is None else find(reading.state, name).spec.id


@cli_command("add")
@click.argument("id", metavar="ID")
@click.argument("goal", nargs=-1, required=True)
@click.option("--needs", multiple=True, metavar="TASK", help="A task that must land first.")
@click.option("--touches", multiple=True, metavar="GLOB", help="Files it will probably edit.")
@click.option("--done-when", multiple=True, metavar="COMMAND", help="A command that must pass.")
@click.option("--agent", default="", metavar="NAME", help="An agent of the graph; else that of its defaults.")
@click.option("--parent", default="", metavar="TASK", help="The task that it is a part of.")
async def add_command(
    invocation: Invocation, /, id: str, goal: tuple[str, ...], **more: tuple[str, ...] | str
) -> None:
    """Add a task with this ID and GOAL beside the graph file, for this run or the next.

    The graph file lends its agents and defaults, and never removes the task; `interlock cancel` does.
    For example: interlock add fix-login "Let people log in with spaces in their name" --needs login
    """
    from interlock.plan.added import Wish

    async with open_project(invocation.project, invocation.settings, note) as project:
        state = await load_state(project.store)
        # Any: click has checked the options, and their names are those of the fields.
        wish = Wish(id, " ".join(goal), **more)  # type: ignore[arg-type]  # as said above
        origin = Origin(OriginKind.PERSON, actor())
        task = await add_task(project, state, wish, origin, actor())
        is_live = (await look(project.store, state)).is_live
    document = {"task": task, "origin": origin, "parent": wish.parent, "live": is_live}
    say_result(invocation, document, f"{task.id} was added", _taken_up(is_live))
