"""`interlock add`: a task beside the graph file. The graph file never removes it."""

import click

from interlock.engine.loading import catch_up, load_state
from interlock.engine.project import Project, open_project
from interlock.events.facts import TaskAccepted
from interlock.events.finished import all_tasks
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.errors import UsageError
from interlock.model.task import Origin, OriginKind, Task, TaskId
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import actor, run_async
from interlock.ui.reading import look


@click.command("add", cls=Command)
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
    from interlock.plan.added import Wish, added

    async with open_project(invocation.project, invocation.settings, note) as project:
        state = await load_state(project.store)
        # Any: click has checked the options, and their names are those of the fields.
        wish = Wish(id, goal, **more)  # type: ignore[arg-type]  # as said above
        task = added(wish, *await _beside(project, state))
        fact = TaskAccepted(task, Origin(OriginKind.PERSON, actor()), TaskId(wish.parent))
        await project.store.append([fact], actor())
        await catch_up(project.store, state)
        if (known := state.tasks[task.id]).spec != task or known.origin != fact.origin:
            raise UsageError(
                f"another task `{task.id}` was added at the same moment", f"interlock show {task.id}"
            )
        reading = await look(project.store, state)
    _report(invocation, task, wish.parent, reading.is_live)


async def _beside(project: Project, state: State) -> tuple[str, dict[TaskId, tuple[TaskId, ...]]]:
    """The text of the graph file, which must be one that `run` accepts, and the needs of all tasks."""
    graph = await project.read_graph()
    project.refuse_unagreed(graph)
    known = {task.spec.id: task.spec.needs for task in all_tasks(state) if task.stage is not Stage.REMOVED}
    text = (project.root / project.settings.graph).read_text(encoding="utf-8-sig")
    return text, known | {task.id: task.needs for task in graph.tasks}


def _report(invocation: Invocation, task: Task, parent: str, is_live: bool) -> None:
    if invocation.json:
        say_json(
            {"task": task, "origin": {"kind": "person", "name": actor()}, "parent": parent, "live": is_live}
        )
        return
    say(f"{task.id} was added")
    say("the active run takes it up" if is_live else "next: interlock run")
