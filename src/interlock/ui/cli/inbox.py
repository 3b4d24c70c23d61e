"""`interlock inbox`: everything that waits for a person, each with the command that lets it go on."""

from collections.abc import Iterator

import click

from interlock.model.durations import lasting
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.inbox import Item, inbox_document, items
from interlock.ui.reading import Reading

COLORS = {"failed": "red"}


@click.command("inbox", cls=CliCommand)
@click.pass_obj
def inbox_command(invocation: Invocation) -> None:
    """Show what waits for you: questions and permission requests of agents, failed and paused tasks.

    For example: interlock inbox --json
    """
    reading = run_async(_read(invocation))
    if invocation.wants_json():
        say_json(inbox_document(reading))
        return
    found = items(reading)
    if not found:
        say("your inbox is empty")
    for item in found:
        for line in _lines(item, reading.now):
            say(line)


async def _read(invocation: Invocation) -> Reading:
    async with opened(invocation) as project:
        return await read(project.store)


def _lines(item: Item, now: float) -> Iterator[str]:
    what = f"{item.task or 'project'}  {paint(item.kind, COLORS.get(item.kind, 'yellow'))}"
    yield f"{what}, for {lasting(max(0.0, now - item.since))}"
    for line in inert(item.message or item.text).splitlines():
        yield f"    {line}" if line.strip() else ""
    yield f"  next: {paint(item.next[0], 'cyan')}" + "".join(f", or {more}" for more in item.next[1:])
