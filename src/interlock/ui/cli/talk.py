"""`interlock inbox`, `say` and `answer`: what agents ask, and messages to them."""

from collections.abc import Iterator, Sequence

import click

from interlock.events.asked import Permission
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.ui.actions.talk import (
    WORDS,
    Delivery,
    answer_permissions,
    answer_question,
    check_message,
    send_message,
)
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import actor, opened, read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.inbox import Item, inbox_document, items
from interlock.ui.queries.tasks import find
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


@click.command("say", cls=CliCommand)
@click.argument("task")
@click.argument("text", nargs=-1, required=True)
@click.pass_obj
def say_command(invocation: Invocation, task: str, text: tuple[str, ...]) -> None:
    """Send a message to the agent of TASK: now if its program takes messages, else with its next prompt.

    For example: interlock say login "keep the old column for now"
    """
    run_async(_say(invocation, task, " ".join(text).strip()))


async def _say(invocation: Invocation, name: str, text: str) -> None:
    check_message(text)
    async with opened(invocation) as project:
        reading = await read(project.store)
        task = find(reading.state, name)
        delivery = await send_message(project.store, reading, task, text, actor())
    _report_delivery(invocation, task, delivery)


def _report_delivery(invocation: Invocation, task: TaskState, delivery: Delivery) -> None:
    name, attempt = task.spec.id, delivery.attempt
    if invocation.json:
        say_json({"task": name, "delivered": attempt is not None, "attempt": attempt})
    elif attempt is not None:
        say(f"the agent of {name} got it, in attempt {attempt}")
    elif delivery.could_hear:
        say(f"the agent of {name} has not read it yet; if its attempt ends first, the next attempt gets it")
    elif task.has_agent:
        say(f"{task.who.use} takes no messages while it runs; the next attempt of {name} gets it")
    elif task.asks:
        say(f'the next attempt of {name} gets it; interlock answer {name} "..." starts it')
    elif task.stage in (Stage.FAILED, Stage.CANCELLED):
        say(f"the next attempt of {name} gets it; interlock retry {name} starts it")
    else:
        say(f"the next attempt of {name} gets it")


@click.command("answer", cls=CliCommand)
@click.argument("task")
@click.argument("answer", nargs=-1, required=True)
@click.pass_obj
def answer_command(invocation: Invocation, task: str, answer: tuple[str, ...]) -> None:
    """Answer the question of the agent of TASK; the task then continues.

    Answer an agent that asks for permission before it acts (`permissions: ask`) with allow or deny, for
    everything that it asks now. For example: interlock answer login "yes, strings as well"
    """
    run_async(_answer(invocation, task, " ".join(answer).strip()))


async def _answer(invocation: Invocation, name: str, text: str) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        task = find(reading.state, name)
        if task.asks:
            await answer_question(project.store, task, text, actor())
            _report_answer(invocation, reading, task, text)
            return
        asked = await answer_permissions(project.store, reading, task, text, actor())
    _report_leave(invocation, task, asked, WORDS[text])


def _report_answer(invocation: Invocation, reading: Reading, task: TaskState, text: str) -> None:
    name = task.spec.id
    if invocation.json:
        asked = task.asks.text if task.asks else ""
        say_json({"task": name, "question": asked, "answer": text, "live": reading.is_live})
        return
    say(f"the next attempt of {name} gets it")
    say("the active run takes it up" if reading.is_live else "next: interlock run")


def _report_leave(
    invocation: Invocation, task: TaskState, answered: Sequence[Permission], allow: bool
) -> None:
    if invocation.json:
        listed = [{"call": asked.call, "tool": asked.tool, "text": asked.text} for asked in answered]
        say_json({"task": task.spec.id, "allow": allow, "answered": listed})
        return
    for asked in answered:
        may = "may" if allow else "may not"
        say(f"the agent of {task.spec.id} {may}: {inert(' '.join((asked.tool, asked.text)).strip())}")
