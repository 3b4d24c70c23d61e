"""`interlock add`: a task beside the graph file. The graph file never removes it."""

import click

from interlock.engine.loading import load_state
from interlock.engine.project import open_project
from interlock.model.task import Origin, OriginKind
from interlock.ui.actions import add_task
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import actor, run_async
from interlock.ui.reading import look


@click.command("add", cls=CliCommand)
@click.argument("id", metavar="ID")
@click.argument("goal", nargs=-1, required=True)
@click.option("--needs", multiple=True, metavar="TASK", help="A task that must land first.")
@click.option("--touches", multiple=True, metavar="GLOB", help="Files it will probably edit.")
@click.option("--done-when", multiple=True, metavar="COMMAND", help="A command that must pass.")
@click.option("--agent", default="", metavar="NAME", help="An agent of the graph; else that of its defaults.")
@click.option("--parent", default="", metavar="TASK", help="The task that it is a part of.")
@click.pass_obj
def add_command(
    invocation: Invocation, /, id: str, goal: tuple[str, ...], **more: tuple[str, ...] | str
) -> None:
    """Add a task with this ID and GOAL beside the graph file, for this run or the next.

    The graph file lends its agents and defaults, and never removes the task; `interlock cancel` does.
    For example: interlock add fix-login "Let people log in with spaces in their name" --needs login
    """
    run_async(_add(invocation, id, " ".join(goal), more))


async def _add(invocation: Invocation, id: str, goal: str, more: dict[str, tuple[str, ...] | str]) -> None:
    from interlock.plan.added import Wish

    async with open_project(invocation.project, invocation.settings, note) as project:
        state = await load_state(project.store)
        # Any: click has checked the options, and their names are those of the fields.
        wish = Wish(id, goal, **more)  # type: ignore[arg-type]  # as said above
        origin = Origin(OriginKind.PERSON, actor())
        task = await add_task(project, state, wish, origin, actor())
        is_live = (await look(project.store, state)).is_live
    if invocation.json:
        say_json({"task": task, "origin": origin, "parent": wish.parent, "live": is_live})
        return
    say(f"{task.id} was added")
    say("the active run takes it up" if is_live else "next: interlock run")
