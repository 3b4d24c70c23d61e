"""Pause and unpause a task, or the whole project. What runs already goes on."""

from interlock.events.facts import Paused, Unpaused
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.store.protocol import Store
from interlock.ui.reading import Reading


async def pause(store: Store, reading: Reading, task: TaskId | None, why: str, actor: str) -> None:
    """Pause the project, or one task. A second pause needs a reason of its own."""
    if task and reading.state.tasks[task].is_over:
        raise UsageError(f"{task} is {reading.state.tasks[task].stage.value}", f"interlock show {task}")
    if _is_paused(reading, task) and not why:
        raise UsageError(
            f"{task or 'the project'} is paused already", f"interlock unpause{f' {task}' if task else ''}"
        )
    await store.append([Paused(task, why)], actor)


async def unpause(store: Store, reading: Reading, task: TaskId | None, actor: str) -> None:
    """Let work start again: this task, or the project."""
    if not _is_paused(reading, task):
        others = [name for name, one in reading.state.tasks.items() if one.queue.paused]
        raise UsageError(
            f"{task or 'the project'} is not paused",
            f"interlock unpause {others[0]}" if others else "interlock status",
        )
    await store.append([Unpaused(task)], actor)


def _is_paused(reading: Reading, task: TaskId | None) -> bool:
    return reading.state.tasks[task].queue.paused if task else reading.state.paused
