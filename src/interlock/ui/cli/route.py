"""`interlock route`: the agent that a task would get, and the reason."""

import click

from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, say_listing
from interlock.ui.cli.session import opened, read
from interlock.ui.plain import inert
from interlock.ui.queries.route import route_document, route_lines
from interlock.ui.queries.tasks import find


@cli_command("route")
@click.argument("task")
async def route_command(invocation: Invocation, task: str) -> None:
    """Show which agent the next attempt at a TASK would get, and why.

    For example: interlock route login
    """
    async with opened(invocation) as project:
        reading = await read(project.store)
        found = route_document(reading.state, find(reading.state, task), reading.now)
    say_listing(invocation, lambda: found, map(inert, route_lines(found)))
