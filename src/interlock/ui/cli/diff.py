"""`interlock diff`: what a task changed."""

import sys

import click

from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.attempts import AttemptStory, attempts_of
from interlock.ui.queries.tasks import find
from interlock.ui.reading import history

COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff", cls=CliCommand)
@click.argument("task")
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    help="Show the change of this attempt, instead of the newest or the landed one.",
)
@click.pass_obj
def diff_command(invocation: Invocation, task: str, attempt: int | None) -> None:
    """Show the change of TASK: as it landed, or as its newest attempt made it.

    For example: interlock diff login --attempt 1
    """
    old, new, text = run_async(_diff(invocation, task, attempt))
    if invocation.json:
        say_json({"base": old, "commit": new, "diff": text})
        return
    note(f"{old[:12]}..{new[:12]}")
    for line in text.splitlines():
        exact = not sys.stdout.isatty()
        shown = line if exact else inert(line)
        say(paint(shown, COLORS[line[0]]) if line[:1] in COLORS else shown, exact)


async def _diff(invocation: Invocation, name: str, attempt: int | None) -> tuple[str, str, str]:
    from interlock.engine.project import open_project

    async with open_project(invocation.project) as project:
        task = find((await read(project.store)).state, name)
        stories = attempts_of(await history(project.store, task.spec.id))
        old, new = _ends(task, stories, attempt)
        return old, new, await project.repository.diff(old, new)


def _ends(task: TaskState, stories: list[AttemptStory], attempt: int | None) -> tuple[str, str]:
    """The two commits to compare."""
    name = task.spec.id
    if attempt is None and task.change.landed:
        return task.change.landed.base, task.change.landed.commit
    made = [story for story in stories if story.commit and attempt in (None, story.attempt)]
    if made:
        return _base(made[-1]), made[-1].commit
    if attempt is not None and attempt not in [story.attempt for story in stories]:
        raise UsageError(f"{name} has no attempt {attempt}", f"`interlock show {name}` lists its attempts")
    raise UsageError(
        f"{name} has no change yet" if attempt is None else f"attempt {attempt} of {name} made no change",
        f"interlock explain {name}",
    )


def _base(story: AttemptStory) -> str:
    """The commit that the attempt started from; the parent if the attempt failed before it recorded one."""
    return next((phase.base for phase in story.phases if phase.base), f"{story.commit}~1")
