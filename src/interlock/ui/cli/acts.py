"""What a person does to a task: `retry`, `reset`, `cancel`. Each adds a fact; the running loop acts on it."""

from collections.abc import Callable, Sequence

import click

from interlock.engine.loading import load_state
from interlock.events.facts import Fact, StopRequested, TaskCancelled, TaskReset, TaskRetried
from interlock.events.lifecycle import Stage, next_move
from interlock.events.state import TaskState
from interlock.model.claim import task_resource
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.store.protocol import Store
from interlock.ui.cli.answer import answer_question
from interlock.ui.cli.app import Command
from interlock.ui.cli.moved_main import note_lost_landings
from interlock.ui.cli.output import Invocation, say, say_json
from interlock.ui.cli.session import actor, opened, run_async
from interlock.ui.cli.status import run_name
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading, catch_up, read

MakeFact = Callable[[TaskId], Fact]

INSTEAD = {
    (TaskRetried, Stage.RUNNING): "is running; `interlock reset {0}` stops it and starts it again",
    (
        TaskRetried,
        Stage.WAITING,
    ): "is waiting and starts by itself; `interlock explain {0}` says for what it waits",
    (TaskRetried, Stage.DONE): "has landed; add a new task to the graph for what is still missing",
    (TaskReset, Stage.DONE): "has landed; add a new task to the graph for what is still missing",
    (TaskCancelled, Stage.DONE): "has landed and cannot be taken back by this",
    (TaskCancelled, Stage.CANCELLED): "is cancelled already; `interlock retry {0}` starts it again",
}


@click.command("retry", cls=Command)
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--note", default="", help="Something the next attempt shall know.")
@click.pass_obj
def retry_command(invocation: Invocation, tasks: tuple[str, ...], note: str) -> None:
    """Give failed or cancelled TASKS new attempts, with what went wrong as feedback.

    What a task asks is answered with -m.

    For example: interlock retry login -m "use the new table"
    """
    run_async(_act(invocation, tasks, lambda task: TaskRetried(task, note), "starts again"))


@click.command("reset", cls=Command)
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--why", default="", help="Why, for the log.")
@click.pass_obj
def reset_command(invocation: Invocation, tasks: tuple[str, ...], why: str) -> None:
    """Take stuck TASKS away from whoever holds them; they start again from the beginning.

    For example: interlock reset login -m "it waits for a server that is gone"
    """
    run_async(_act(invocation, tasks, lambda task: TaskReset(task, why), "was released and starts again"))


@click.command("cancel", cls=Command)
@click.argument("tasks", nargs=-1, metavar="[TASK|RUN]...")
@click.option(
    "--all", "everything", is_flag=True, help="Stop the whole run and its agents; their work is kept."
)
@click.option("-m", "--why", default="", help="Why, for the log.")
@click.pass_obj
def cancel_command(invocation: Invocation, tasks: tuple[str, ...], everything: bool, why: str) -> None:
    """Stop tasks for good, or a whole run. What agents have written so far is archived.

    For example: interlock cancel login
    """
    if everything == bool(tasks):
        raise UsageError(
            "say what to cancel: tasks or --all", "interlock cancel TASK, or interlock cancel --all"
        )
    if everything or run_async(_is_run(invocation, tasks)):
        run_async(_stop_run(invocation, why))
    else:
        run_async(_act(invocation, tasks, lambda task: TaskCancelled(task, why), "is cancelled"))


async def _act(invocation: Invocation, names: Sequence[str], fact: MakeFact, done: str) -> None:
    """Check all of the tasks first, then write the facts."""
    async with opened(invocation) as project:
        reading = await read(project.store)
        await note_lost_landings(project, reading)
        chosen = [find(reading.state, name) for name in names]
        for task in chosen:
            _must_be_possible(task, fact(task.spec.id))
        for task in chosen:
            await _write(project.store, task, fact(task.spec.id))
        await catch_up(project.store, reading.state)
    _report(invocation, reading, chosen, done)


async def _write(store: Store, task: TaskState, fact: Fact) -> None:
    if isinstance(fact, TaskRetried) and task.asks:
        await answer_question(store, task, fact.note)
    elif isinstance(fact, TaskReset | TaskCancelled):
        # With the claim, so that whoever holds the task is fenced in the same moment.
        await store.revoke(task_resource(fact.task), [fact], actor())
    else:
        await store.append([fact], actor())


def _must_be_possible(task: TaskState, fact: Fact) -> None:
    if isinstance(fact, TaskRetried) and task.asks:
        if not fact.note:
            why = f"{task.spec.id} waits for your answer: {task.asks.text}"
            raise UsageError(why, f'interlock answer {task.spec.id} "..."')
        return
    if next_move(task.stage, task.spec.pipeline, task.phase_index, type(fact)):
        return
    name = task.spec.id
    instead = INSTEAD.get((type(fact), task.stage), f"is {task.stage.value}")
    raise UsageError(f"{name} {instead.format(name)}", f"interlock show {name}")


def _report(invocation: Invocation, reading: Reading, chosen: Sequence[TaskState], done: str) -> None:
    """What is true now, and what follows. `chosen` are the same objects the fold has just changed."""
    if invocation.json:
        say_json(
            {
                "tasks": [{"id": task.spec.id, "state": task.stage.value} for task in chosen],
                "live": reading.is_live,
            }
        )
        return
    for task in chosen:
        say(f"{task.spec.id} {done}")
        waiting = reading.state.dependents.get(task.spec.id, []) if task.stage is Stage.CANCELLED else []
        if waiting:
            say(f"  these need it and wait: {', '.join(waiting)}")
    if any(task.stage is Stage.WAITING for task in chosen):
        say("the run that is going on takes it up" if reading.is_live else "next: interlock run")


async def _is_run(invocation: Invocation, words: Sequence[str]) -> bool:
    """Is it the name of the run that is meant, and not a task."""
    async with opened(invocation) as project:
        run = (await load_state(project.store)).run
    return run is not None and len(words) == 1 and words[0] in (run.run, run_name(run.run))


async def _stop_run(invocation: Invocation, why: str) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        run = reading.state.run
        if run is None or not reading.is_live:
            raise UsageError("no run is going on", "interlock status")
        await project.store.append([StopRequested(run.run, agents=True, why=why)], actor())
    if invocation.json:
        say_json({"run": run.run, "stopping": True})
    else:
        say(f"run {run_name(run.run)} stops its agents and archives what they wrote")
        say("next: interlock wait, then interlock run to go on")
