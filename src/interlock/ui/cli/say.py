"""`interlock say`: a message to an agent: at once where its program takes any, else in its next prompt."""

import asyncio

import click

from interlock.events.facts import MessageDelivered, MessageSaid
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.store.protocol import Store
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, say, say_json
from interlock.ui.cli.session import actor, opened, run_async
from interlock.ui.queries.tasks import find
from interlock.ui.reading import read

WAIT_SECONDS = 10.0
"""A loop that is well looks for facts all the time."""
MOST_CHARS = 4_000
"""More than a message is a goal: it belongs into the graph."""


@click.command("say", cls=Command)
@click.argument("task")
@click.argument("text", nargs=-1, required=True)
@click.pass_obj
def say_command(invocation: Invocation, task: str, text: tuple[str, ...]) -> None:
    """Tell the agent of TASK something: now if its program takes messages, else with its next prompt.

    For example: interlock say login "keep the old column for now"
    """
    run_async(_say(invocation, task, " ".join(text).strip()))


async def _say(invocation: Invocation, name: str, text: str) -> None:
    if not text or len(text) > MOST_CHARS:
        raise UsageError(
            f"a message has 1 to {MOST_CHARS} characters, this one has {len(text)}",
            "put what is longer into the task's goal",
        )
    async with opened(invocation) as project:
        reading = await read(project.store)
        task = find(reading.state, name)
        if task.stage is Stage.DONE:
            raise UsageError(
                f"{task.spec.id} has landed, and no agent will work on it any more",
                "add a new task to the graph for what is still missing",
            )
        message = (await project.store.append([MessageSaid(task.spec.id, text)], actor()))[-1].seq
        can_hear = reading.is_live and task.has_agent and _takes_messages(task)
        attempt = await _delivered_to(project.store, message) if can_hear else None
    _report(invocation, task, attempt, can_hear)


def _takes_messages(task: TaskState) -> bool:
    from interlock.agents import ADAPTERS

    return ADAPTERS[task.who.use].can_steer


async def _delivered_to(store: Store, message: int) -> int | None:
    """Wait until the loop has passed it on: to which attempt; None if that takes too long."""
    seen = message
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                for row in await store.read(seen, 1_000):
                    seen = row.seq
                    fact = row.fact
                    if isinstance(fact, MessageDelivered) and fact.message == message:
                        return fact.attempt
                await store.wait(seen, 1.0)
    except TimeoutError:
        return None


def _report(invocation: Invocation, task: TaskState, attempt: int | None, could_hear: bool) -> None:
    name = task.spec.id
    if invocation.json:
        say_json({"task": name, "delivered": attempt is not None, "attempt": attempt})
    elif attempt is not None:
        say(f"the agent of {name} was told, in attempt {attempt}")
    elif could_hear:
        say(f"the agent of {name} has not taken it yet; if its attempt ends first, the next one is told")
    elif task.has_agent:
        say(f"{task.who.use} takes no messages while it runs; the next attempt of {name} is told")
    elif task.asks:
        say(f'the next attempt of {name} is told; interlock answer {name} "..." starts it')
    elif task.stage in (Stage.FAILED, Stage.CANCELLED):
        say(f"the next attempt of {name} is told; interlock retry {name} starts it")
    else:
        say(f"the next attempt of {name} is told")
