"""`interlock accept`: a task that an agent proposed becomes one of the plan, or is declined."""

import click

from interlock.engine.loading import load_state
from interlock.engine.project import open_project
from interlock.ui.actions.proposals import accept_proposal, decline_proposal, find_proposal
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say_result
from interlock.ui.cli.session import person
from interlock.ui.reading import look


@cli_command("accept")
@click.argument("proposal", metavar="[TASK/]ID")
@click.option("--decline", is_flag=True, help="Decline it instead.")
async def accept_command(invocation: Invocation, proposal: str, decline: bool) -> None:
    """Accept a task that an agent proposed: it is added as `interlock inbox` shows it.

    For example: interlock accept login/rate-limit
    """
    who = person()
    async with open_project(invocation.project, invocation.settings, note) as project:
        state = await load_state(project.store)
        parent, made = find_proposal(state, proposal)
        if decline:
            await decline_proposal(project.store, parent, made, who)
        else:
            await accept_proposal(project, state, parent, made, who)
        is_live = (await look(project.store, state)).is_live
    document = {"task": made.id, "parent": parent.spec.id, "accepted": not decline, "live": is_live}
    if decline:
        say_result(invocation, document, f"{made.id} was declined")
        return
    after = "the active run takes it up" if is_live else "next: interlock run"
    say_result(invocation, document, f"{made.id} was added, as {parent.spec.id} proposed it", after)
