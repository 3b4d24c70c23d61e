"""`interlock inbox`: everything that waits for a person, each with the command that lets it go on."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.queries.tasks import open_permissions
from interlock.ui.reading import Reading, read
from interlock.ui.words.plain import inert

COLORS = {"failed": "red"}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a person has to see to."""

    id: str
    """The same as long as it waits: task, attempt, and the call where there are several."""
    kind: str
    """`question`, `permission`, `failed` or `paused`."""
    task: str
    text: str
    message: str
    """Of a question, the whole of the agent's last message."""
    since: float
    next: tuple[str, ...]
    """The commands that let it go on, the most likely first."""


@click.command("inbox", cls=Command)
@click.pass_obj
def inbox_command(invocation: Invocation) -> None:
    """Show what waits for you: questions of agents, permissions they ask for, failed and paused tasks.

    For example: interlock inbox --json
    """
    reading = run_async(_read(invocation))
    found = items(reading)
    if invocation.wants_json():
        say_json({"items": found, "live": reading.is_live, "time": reading.now})
        return
    if not found:
        say("nothing waits for you")
    for item in found:
        for line in _lines(item, reading.now):
            say(line)


async def _read(invocation: Invocation) -> Reading:
    async with opened(invocation) as project:
        return await read(project.store)


def items(reading: Reading) -> list[Item]:
    """What waits for a person: what an agent asks first, then what has come to a halt."""
    tasks = list(reading.state.tasks.values())
    return [
        *(item for task in tasks for item in _asked(reading, task)),
        *(_failed(task) for task in tasks if task.stage is Stage.FAILED),
        *_paused(reading, tasks),
    ]


def _asked(reading: Reading, task: TaskState) -> Iterator[Item]:
    name = task.spec.id
    if asked := task.asks:
        commands = (f'interlock answer {name} "..."', f"interlock cancel {name}")
        ref = f"{name}/{asked.attempt}"
        yield Item(ref, "question", name, asked.text, asked.message, task.since, commands)
    for leave in open_permissions(task) if reading.is_live else ():
        text = " ".join((leave.tool, leave.text)).strip()
        ref = f"{name}/{leave.attempt}/{leave.call}"
        commands = (f"interlock answer {name} allow", f"interlock answer {name} deny")
        yield Item(ref, "permission", name, text, "", task.since, commands)


def _failed(task: TaskState) -> Item:
    name = task.spec.id
    commands = (f"interlock explain {name}", f'interlock retry {name} -m "..."')
    return Item(f"{name}/{task.attempt}", "failed", name, task.why, "", task.since, commands)


def _paused(reading: Reading, tasks: list[TaskState]) -> Iterator[Item]:
    state = reading.state
    if state.paused:
        yield Item("paused", "paused", "", state.pause_why, "", state.time, ("interlock unpause",))
    for task in tasks:
        if task.paused and not task.is_over:
            command = f"interlock unpause {task.spec.id}"
            yield Item(task.spec.id, "paused", task.spec.id, "", "", task.since, (command,))


def _lines(item: Item, now: float) -> Iterator[str]:
    what = f"{item.task or 'everything'}  {paint(item.kind, COLORS.get(item.kind, 'yellow'))}"
    yield f"{what}, for {lasting(max(0.0, now - item.since))}"
    for line in inert(item.message or item.text).splitlines():
        yield f"    {line}" if line.strip() else ""
    yield f"  next: {paint(item.next[0], 'cyan')}" + "".join(f", or {more}" for more in item.next[1:])
