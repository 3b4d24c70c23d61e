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
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, paint, say_listing, say_result
from interlock.ui.cli.session import actor, opened, person, read, read_project
from interlock.ui.plain import inert, one_line
from interlock.ui.queries.inbox import Item, inbox_document, items
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading

COLORS = {"failed": "red", "red-main": "red"}


@cli_command("inbox")
def inbox_command(invocation: Invocation) -> None:
    """Show what waits for you: questions and requests of agents, changes to review, failures, a red main.

    For example: interlock inbox --json
    """
    reading = read_project(invocation)
    lines = [line for item in items(reading) for line in _lines(item, reading.now)]
    say_listing(invocation, lambda: inbox_document(reading), lines or ["your inbox is empty"])


def _lines(item: Item, now: float) -> Iterator[str]:
    what = f"{item.task or 'project'}  {paint(item.kind, COLORS.get(item.kind, 'yellow'))}"
    yield f"{what}, for {lasting(max(0.0, now - item.since))}"
    for line in inert(item.message or item.text).splitlines():
        yield f"    {line}" if line.strip() else ""
    yield f"  next: {paint(item.next[0], 'cyan')}" + "".join(f", or {more}" for more in item.next[1:])


@cli_command("say")
@click.argument("task")
@click.argument("text", nargs=-1, required=True)
async def say_command(invocation: Invocation, task: str, text: tuple[str, ...]) -> None:
    """Send a message to the agent of TASK: now if its program takes messages, else with its next prompt.

    For example: interlock say login "keep the old column for now"
    """
    message = " ".join(text).strip()
    check_message(message)
    async with opened(invocation) as project:
        reading = await read(project.store)
        found = find(reading.state, task)
        delivery = await send_message(project.store, reading, found, message, actor())
    _report_delivery(invocation, found, delivery)


def _report_delivery(invocation: Invocation, task: TaskState, delivery: Delivery) -> None:
    name, attempt = task.spec.id, delivery.attempt
    text = f"the next attempt of {name} gets it"
    if attempt is not None:
        text = f"the agent of {name} got it, in attempt {attempt}"
    elif delivery.could_hear:
        text = f"the agent of {name} has not read it yet; if its attempt ends first, the next attempt gets it"
    elif task.has_agent:
        text = f"{task.who.use} takes no messages while it runs; {text}"
    elif task.asks:
        text += f'; interlock answer {name} "..." starts it'
    elif task.stage in (Stage.FAILED, Stage.CANCELLED):
        text += f"; interlock retry {name} starts it"
    say_result(invocation, {"task": name, "delivered": attempt is not None, "attempt": attempt}, text)


@cli_command("answer")
@click.argument("task")
@click.argument("answer", nargs=-1, required=True)
async def answer_command(invocation: Invocation, task: str, answer: tuple[str, ...]) -> None:
    """Answer the question of the agent of TASK; the task then continues.

    Answer an agent that asks for permission before it acts (`permissions: ask`) with allow or deny, for
    everything that it asks now. For example: interlock answer login "yes, strings as well"
    """
    text, who = " ".join(answer).strip(), person()
    async with opened(invocation) as project:
        reading = await read(project.store)
        found = find(reading.state, task)
        if found.asks:
            await answer_question(project.store, found, text, who)
            _report_answer(invocation, reading, found, text)
            return
        asked = await answer_permissions(project.store, reading, found, text, who)
    _report_leave(invocation, found, asked, WORDS[text])


def _report_answer(invocation: Invocation, reading: Reading, task: TaskState, text: str) -> None:
    name, asked = task.spec.id, task.asks.text if task.asks else ""
    say_result(
        invocation,
        {"task": name, "question": asked, "answer": text, "live": reading.is_live},
        f"the next attempt of {name} gets it",
        "the active run takes it up" if reading.is_live else "next: interlock run",
    )


def _report_leave(
    invocation: Invocation, task: TaskState, answered: Sequence[Permission], allow: bool
) -> None:
    name, may = task.spec.id, "may" if allow else "may not"
    listed = [{"call": asked.call, "tool": asked.tool, "text": asked.text} for asked in answered]
    told = [one_line(inert(" ".join((asked.tool, asked.text)).strip())) for asked in answered]
    lines = (f"the agent of {name} {may}: {text}" for text in told)
    say_result(invocation, {"task": name, "allow": allow, "answered": listed}, *lines)
