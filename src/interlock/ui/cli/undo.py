"""`interlock undo`: take landed tasks or commits off main, by one change that is checked and lands."""

import sys

import click

from interlock.engine.loading import load_state
from interlock.engine.project import open_project
from interlock.model.errors import Declined, UsageError
from interlock.ui.actions.undo import undo, undo_plan
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say_result
from interlock.ui.cli.session import actor
from interlock.ui.reading import look
from interlock.ui.words.undoing import plan_lines


@cli_command("undo")
@click.argument("targets", nargs=-1, required=True, metavar="TASK|COMMIT...")
@click.option("--include-later", is_flag=True, help="Also undo later changes of the same lines.")
@click.option("--yes", is_flag=True, help="Do not ask.")
async def undo_command(
    invocation: Invocation, targets: tuple[str, ...], include_later: bool, yes: bool
) -> None:
    """Undo landed tasks or commits of main, with the landed tasks that need them, in one change.

    The change is checked and lands like any other. Its tasks then wait for `interlock retry`.
    For example: interlock undo login
    """
    async with open_project(invocation.project, invocation.settings, note) as project:
        state = await load_state(project.store)
        plan, main = await undo_plan(project, state, targets, include_later=include_later)
        shown = list(plan_lines(state, plan))
        if not yes:
            _ask(shown, invocation.json)
        name = await undo(project, state, plan, main, actor())
        is_live = (await look(project.store, state)).is_live
    document = {
        "task": name,
        "undoes": [{"commit": each.change, "task": each.task or None} for each in plan.undoes],
        "live": is_live,
    }
    after = "the active run checks and lands it" if is_live else "next: interlock run"
    say_result(invocation, document, f"{name} was added:", *shown, after)


def _ask(lines: list[str], is_json: bool) -> None:
    for line in lines:
        note(line)
    if is_json or not sys.stdin.isatty():
        raise UsageError("this takes changes off main", "use --yes to confirm")
    if not click.confirm("Undo that?", err=True):
        raise Declined("nothing is undone", "interlock status")
