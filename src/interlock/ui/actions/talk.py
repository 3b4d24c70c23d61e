"""Messages of people to agents, answers to their questions, and permission to act."""

import asyncio
from dataclasses import dataclass

from interlock.events.asked import Permission
from interlock.events.facts import MessageDelivered, MessageSaid, PermissionAnswered, QuestionAnswered
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.store.protocol import Store
from interlock.ui.reading import Reading, open_permissions

WAIT_SECONDS = 10.0
"""A loop that is well looks for facts all the time."""
MOST_CHARS = 4_000
"""More than a message is a goal: it belongs into the graph."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The fate of a message."""

    attempt: int | None
    """The attempt that it was delivered to; None: to none yet."""
    could_hear: bool
    """An agent was at work whose program takes messages."""


async def write_message(store: Store, task: TaskState, text: str, actor: str) -> int:
    """Write a message down for the agent of a task; the number of its fact."""
    check_message(text)
    if task.stage is Stage.DONE:
        raise UsageError(
            f"{task.spec.id} has landed, so no agent will read it",
            "add a new task to the graph for the rest of the work",
        )
    return (await store.append([MessageSaid(task.spec.id, text)], actor))[-1].seq


async def send_message(store: Store, reading: Reading, task: TaskState, text: str, actor: str) -> Delivery:
    """Write the message down, and wait a moment until an agent has it."""
    message = await write_message(store, task, text, actor)
    can_hear = reading.is_live and task.has_agent and _takes_messages(task)
    return Delivery(await _delivered_to(store, message) if can_hear else None, can_hear)


def check_message(text: str) -> None:
    if not text or len(text) > MOST_CHARS:
        raise UsageError(
            f"a message has 1 to {MOST_CHARS} characters, this one has {len(text)}",
            "put longer texts into the task's goal",
        )


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


MOST_ANSWER_CHARS = 4_000
WORDS = {"allow": True, "deny": False}


async def answer_question(store: Store, task: TaskState, text: str, actor: str) -> None:
    name = task.spec.id
    if not text or len(text) > MOST_ANSWER_CHARS:
        raise UsageError(
            f"an answer to the question of {name} has 1 to {MOST_ANSWER_CHARS} characters, "
            f"this one has {len(text)}",
            f'interlock answer {name} "..."',
        )
    if task.asks:
        await store.append([QuestionAnswered(name, task.asks.attempt, text)], actor)


async def answer_permissions(
    store: Store, reading: Reading, task: TaskState, text: str, actor: str
) -> list[Permission]:
    """Allow or deny everything that the agent of a task asks for right now; what that was."""
    asked = open_permissions(task) if reading.is_live else []
    if not asked:
        raise UsageError(
            f"the agent of {task.spec.id} has no open question", f"interlock show {task.spec.id}"
        )
    if text not in WORDS:
        raise UsageError(
            f"the agent of {task.spec.id} asks for permission: answer with one of {', '.join(WORDS)}",
            f"interlock answer {task.spec.id} allow",
        )
    facts = [PermissionAnswered(task.spec.id, each.attempt, each.call, WORDS[text]) for each in asked]
    await store.append(facts, actor)
    return asked
