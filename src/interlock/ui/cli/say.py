"""`interlock say`: a message to an agent: at once where its program takes any, else in its next prompt."""

import click

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.ui.actions.messages import Delivery, check_message, send_message
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, say, say_json
from interlock.ui.cli.session import actor, opened, read, run_async
from interlock.ui.queries.tasks import find


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
    _report(invocation, task, delivery)


def _report(invocation: Invocation, task: TaskState, delivery: Delivery) -> None:
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
