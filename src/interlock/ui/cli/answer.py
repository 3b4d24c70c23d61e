"""`interlock answer`: a person's answer to an agent that asks a question, or for permission to act."""

from collections.abc import Sequence

import click

from interlock.events.asked import Permission
from interlock.events.state import TaskState
from interlock.ui.actions.answers import WORDS, answer_permissions, answer_question
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, say, say_json
from interlock.ui.cli.session import actor, opened, read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading


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
