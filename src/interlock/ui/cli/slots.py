"""`interlock slots`: room for more agents, for people and for programs that plan around it."""

import click

from interlock.model.task import ROLES
from interlock.schedule import Board
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.queries.pool import slots_now
from interlock.ui.reading import Reading
from interlock.ui.words.limits import brake_line


@click.command("slots", cls=CliCommand)
@click.option("--role", type=click.Choice(ROLES), help="Only the slots for this role.")
@click.pass_obj
def slots_command(invocation: Invocation, role: str | None) -> None:
    """Show the slots for agents: the limit, in use, free, and the queue.

    The last line names the kinds of work that the clutch limits further.
    For example: interlock slots --role critic --json
    """
    reading = run_async(_look(invocation))
    slots = slots_now(reading, Board(reading.state))
    if invocation.wants_json():
        say_json(slots if role is None else slots.roles[role])
        return
    if not reading.is_live:
        note("no run is active; next: interlock run")
        return
    if role is None:
        say(f"all           {slots.in_use} of {slots.limit} in use, {slots.free} free, {slots.queue} queued")
    for name, part in slots.roles.items():
        if name == role or (role is None and (part.in_use or part.limit < slots.limit)):
            say(f"{name:13} {part.in_use} of {part.limit} in use, {part.free} free")
    if line := brake_line(reading.state):
        say(line)


async def _look(invocation: Invocation) -> Reading:
    async with opened(invocation) as project:
        return await read(project.store)
