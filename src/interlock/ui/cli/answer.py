"""`interlock answer`: yes or no to an agent that asks a person before it acts (`permissions: ask`)."""

from collections.abc import Sequence

import click

from interlock.events.facts import PermissionAnswered
from interlock.events.state import Question, TaskState
from interlock.model.errors import UsageError
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, inert, say, say_json
from interlock.ui.cli.reading import read
from interlock.ui.cli.rows import find, open_questions
from interlock.ui.cli.session import actor, opened, run_async


@click.command("answer", cls=Command)
@click.argument("task")
@click.argument("answer", type=click.Choice(["allow", "deny"]))
@click.pass_obj
def answer_command(invocation: Invocation, task: str, answer: str) -> None:
    """Allow or deny everything that the agent of TASK asks leave for right now.

    For example: interlock answer login allow
    """
    run_async(_answer(invocation, task, answer == "allow"))


async def _answer(invocation: Invocation, name: str, allow: bool) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        task = find(reading.state, name)
        questions = open_questions(task)
        if not questions or not reading.is_live:
            raise UsageError(f"the agent of {task.spec.id} asks nothing", f"interlock show {task.spec.id}")
        await project.store.append(
            [PermissionAnswered(task.spec.id, asked.attempt, asked.call, allow) for asked in questions],
            actor(),
        )
    _report(invocation, task, questions, allow)


def _report(invocation: Invocation, task: TaskState, questions: Sequence[Question], allow: bool) -> None:
    if invocation.json:
        answered = [{"call": asked.call, "tool": asked.tool, "text": asked.text} for asked in questions]
        say_json({"task": task.spec.id, "allow": allow, "answered": answered})
        return
    for asked in questions:
        may = "may" if allow else "may not"
        say(f"the agent of {task.spec.id} {may}: {inert(' '.join((asked.tool, asked.text)).strip())}")
