"""`interlock prompt`: what an agent would be told, word for word."""

import sys
from pathlib import Path

import click

from interlock.agents import RESUMABLE
from interlock.engine.lessons import takes_lessons
from interlock.engine.project import Project, open_project
from interlock.engine.prompt import Scene, brief, neighbours
from interlock.events.fold import apply
from interlock.events.record import seal
from interlock.events.state import State, TaskState
from interlock.learn.lessons import offer
from interlock.model.errors import UsageError
from interlock.plan import changes
from interlock.run.launch_context import told
from interlock.train.sessions import resumed
from interlock.ui.attempt_files import attempt_file, open_regular
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say_json
from interlock.ui.cli.session import read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.tasks import find


@cli_command("prompt")
@click.argument("task")
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    help="Show the prompt of this attempt instead of the next one.",
)
def prompt_command(invocation: Invocation, task: str, attempt: int | None) -> None:
    """Show the prompt that the next attempt of TASK would get now.

    For example: interlock prompt login --attempt 2
    """
    number, text = run_async(_prompt(invocation, task, attempt))
    if invocation.wants_json():
        say_json({"attempt": number, "prompt": text})
        return
    note(f"attempt {number}, {len(text)} characters")
    click.echo(inert(text) if sys.stdout.isatty() else text, nl=False)


async def _prompt(invocation: Invocation, name: str, attempt: int | None) -> tuple[int, str]:
    async with open_project(invocation.project) as project:
        state = await _state_of_next_start(project)
        task = find(state, name)
        number = attempt or task.attempt + 1
        if number <= task.attempt:
            path = project.state_dir / attempt_file(task.spec.id, number, "prompt.md")
            return number, _as_sent(task, number, path)
        if number > task.attempt + 1:
            raise UsageError(
                f"{task.spec.id} has no attempt {number}", f"the next one is attempt {task.attempt + 1}"
            )
        hold_out = project.settings.lesson_hold_out
        lessons = takes_lessons(project.template, task) and offer(state, task, number, hold_out).given
        scene = Scene(task, number, neighbours(state, task.spec.id), lessons=lessons or ())
        text = await brief(project.repository, project.template, scene)
        return number, told(text, resumed(task, task.who, RESUMABLE))


async def _state_of_next_start(project: Project) -> State:
    """The log as it is; without a run, with the graph on top as the next run would take it in."""
    reading = await read(project.store)
    state = reading.state
    graph_is_there = (project.root / project.settings.graph).exists()
    if not reading.is_live and (graph_is_there or not state.tasks):
        for fact in changes(state, await project.read_graph()):
            apply(state, seal(state.hash, state.seq + 1, reading.now, "", fact))
    return state


def _as_sent(task: TaskState, attempt: int, path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        raise UsageError(
            f"the prompt of attempt {attempt} of {task.spec.id} was deleted", f"interlock show {task.spec.id}"
        ) from None
