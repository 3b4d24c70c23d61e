"""Answers to an agent that asks a question, or for permission to act."""

from interlock.events.asked import Permission
from interlock.events.facts import PermissionAnswered, QuestionAnswered
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.store.protocol import Store
from interlock.ui.reading import Reading, open_permissions

MOST_CHARS = 4_000
WORDS = {"allow": True, "deny": False}


async def answer_question(store: Store, task: TaskState, text: str, actor: str) -> None:
    """Answer the open question of a task."""
    name = task.spec.id
    if not text or len(text) > MOST_CHARS:
        raise UsageError(
            f"an answer to the question of {name} has 1 to {MOST_CHARS} characters, this one has {len(text)}",
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
