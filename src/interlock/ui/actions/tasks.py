"""Add, retry, reset, cancel and pause tasks, and stop a run. Everything is checked before the first fact."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from interlock.engine.loading import catch_up
from interlock.events.facts import (
    Bumped,
    Fact,
    Paused,
    StopRequested,
    TaskAccepted,
    TaskCancelled,
    TaskReset,
    TaskRetried,
    Unpaused,
)
from interlock.events.finished import all_tasks
from interlock.events.lifecycle import Stage, next_move
from interlock.events.state import State, TaskState
from interlock.git.files import GRAPH_BYTES, read_regular
from interlock.model.claim import task_resource
from interlock.model.errors import UsageError
from interlock.model.task import Origin, Task, TaskId
from interlock.store.protocol import Store
from interlock.ui.actions.talk import answer_question
from interlock.ui.reading import Reading

if TYPE_CHECKING:  # what reads a graph takes long to import
    from interlock.engine.project import Project
    from interlock.plan.added import Wish

INSTEAD = {
    (TaskRetried, Stage.RUNNING): "is running; `interlock reset {0}` stops it and starts it again",
    (
        TaskRetried,
        Stage.WAITING,
    ): "is waiting and starts by itself; `interlock explain {0}` says what it waits for",
    (TaskRetried, Stage.DONE): "has landed; add a new task to the graph for the rest of the work",
    (TaskReset, Stage.DONE): "has landed; add a new task to the graph for the rest of the work",
    (TaskCancelled, Stage.DONE): "is done and cannot be cancelled",
    (TaskCancelled, Stage.CANCELLED): "is cancelled already; `interlock retry {0}` starts it again",
}


async def add_task(project: "Project", state: State, wish: "Wish", origin: Origin, actor: str) -> Task:
    """Add a task beside the graph file, which lends its agents and defaults. Brings `state` up to date."""
    from interlock.plan.added import added

    task = added(wish, *await _graph_and_needs(project, state))
    await project.store.append([TaskAccepted(task, origin, TaskId(wish.parent))], actor)
    await catch_up(project.store, state)
    if (known := state.tasks[task.id]).spec != task or known.origin != origin:
        raise UsageError(
            f"another task `{task.id}` was added at the same moment", f"interlock show {task.id}"
        )
    return task


async def _graph_and_needs(project: "Project", state: State) -> tuple[str, dict[TaskId, tuple[TaskId, ...]]]:
    """The text of the graph file, which must be one that `run` accepts, and the needs of all tasks."""
    graph = await project.read_graph()
    project.refuse_unagreed(graph)
    known = {task.spec.id: task.spec.needs for task in all_tasks(state) if task.stage is not Stage.REMOVED}
    text = read_regular(project.root / project.settings.graph, GRAPH_BYTES).decode("utf-8-sig")
    return text, known | {task.id: task.needs for task in graph.tasks}


async def retry(store: Store, tasks: Sequence[TaskState], note: str, actor: str) -> None:
    """Give failed or cancelled tasks new attempts. `note` answers the question of a task that asks one."""
    await _act(store, tasks, lambda task: TaskRetried(task, note), actor)


async def reset(store: Store, tasks: Sequence[TaskState], why: str, actor: str) -> None:
    await _act(store, tasks, lambda task: TaskReset(task, why), actor)


async def cancel(store: Store, tasks: Sequence[TaskState], why: str, actor: str) -> None:
    await _act(store, tasks, lambda task: TaskCancelled(task, why), actor)


async def stop_run(store: Store, reading: Reading, why: str, actor: str) -> str:
    """Ask the run to stop its agents; the run's name."""
    run = reading.state.run
    if run is None or not reading.is_live:
        raise UsageError("no run is active", "interlock status")
    await store.append([StopRequested(run.run, agents=True, why=why)], actor)
    return run.run


async def _act(store: Store, tasks: Sequence[TaskState], fact: Callable[[TaskId], Fact], actor: str) -> None:
    for task in tasks:
        _must_be_possible(task, fact(task.spec.id))
    for task in tasks:
        await _write(store, task, fact(task.spec.id), actor)


async def _write(store: Store, task: TaskState, fact: Fact, actor: str) -> None:
    if isinstance(fact, TaskRetried) and task.asks:
        await answer_question(store, task, fact.note, actor)
    elif isinstance(fact, TaskReset | TaskCancelled):
        # With the claim, so that the holder of the task is fenced in the same moment.
        await store.revoke(task_resource(fact.task), [fact], actor)
    else:
        await store.append([fact], actor)


def _must_be_possible(task: TaskState, fact: Fact) -> None:
    if isinstance(fact, TaskRetried) and task.asks:
        if not fact.note:
            why = f"{task.spec.id} waits for your answer: {task.asks.text}"
            raise UsageError(why, f'interlock answer {task.spec.id} "..."')
        return
    if next_move(task.stage, task.spec.pipeline, task.phase_index, type(fact)):
        return
    if isinstance(fact, TaskRetried) and task.in_review:
        name = task.spec.id
        raise UsageError(f"{name} waits for your review", f'interlock reject {name} -m "..."')
    name = task.spec.id
    instead = INSTEAD.get((type(fact), task.stage), f"is {task.stage.value}")
    raise UsageError(f"{name} {instead.format(name)}", f"interlock show {name}")


async def pause(store: Store, reading: Reading, task: TaskId | None, why: str, actor: str) -> None:
    """Pause the project, or one task. A second pause needs a reason of its own."""
    if task and reading.state.tasks[task].is_over:
        raise UsageError(f"{task} is {reading.state.tasks[task].stage.value}", f"interlock show {task}")
    if _is_paused(reading, task) and not why:
        raise UsageError(
            f"{task or 'the project'} is paused already", f"interlock unpause{f' {task}' if task else ''}"
        )
    await store.append([Paused(task, why)], actor)


async def bump(store: Store, reading: Reading, task: TaskId, actor: str) -> None:
    """Move a finished change to the front of the train."""
    if task not in reading.state.index.train:
        raise UsageError(f"{task} has no finished change on its way to main", f"interlock explain {task}")
    await store.append([Bumped(task)], actor)


async def unpause(store: Store, reading: Reading, task: TaskId | None, actor: str) -> None:
    if not _is_paused(reading, task):
        others = [name for name, one in reading.state.tasks.items() if one.queue.paused]
        raise UsageError(
            f"{task or 'the project'} is not paused",
            f"interlock unpause {others[0]}" if others else "interlock status",
        )
    await store.append([Unpaused(task)], actor)


def _is_paused(reading: Reading, task: TaskId | None) -> bool:
    return reading.state.tasks[task].queue.paused if task else reading.state.limits.paused
