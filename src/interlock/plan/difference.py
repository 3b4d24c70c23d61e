"""The facts that bring the log up to date with the graph."""

from interlock.events.facts import Fact, PlanAccepted, TaskAccepted, TaskRemoved
from interlock.events.finished import unpacked
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.errors import UsageError
from interlock.model.task import Origin, OriginKind, Task, TaskId
from interlock.plan.graph import Graph

_FREE = (Stage.CANCELLED, Stage.REMOVED)
"""The id of a task that was added and is in one of these stages may be used again."""


def changes(state: State, graph: Graph) -> list[Fact]:
    """Return the facts to append, none if the log knows it all.

    `UsageError` if the file has another task with the id of one that a person has added.

    A file removes and changes only tasks that it wrote, and removes none that has landed.
    """
    facts: list[Fact] = []
    origin = Origin(OriginKind.GRAPH, graph.source)
    if graph.digest != state.graph.digest or graph.source != state.graph.source:
        facts.append(PlanAccepted(graph.source, graph.digest, len(graph.tasks), graph.leases))
    for task in graph.tasks:
        known = unpacked(state, task.id) if task.id in state.done.packed else state.tasks.get(task.id)
        if known and known.origin.kind is not OriginKind.GRAPH and known.stage not in _FREE:
            _refuse_another(known, task, graph.source)
        elif known is None or known.stage is Stage.REMOVED or known.spec != task or known.origin != origin:
            facts.append(TaskAccepted(task, origin))
    present = {task.id for task in graph.tasks}
    gone = (id for id, task in state.tasks.items() if id not in present and task.origin == origin)
    facts.extend(TaskRemoved(id) for id in gone if state.tasks[id].stage not in (Stage.DONE, Stage.REMOVED))
    return facts


def changes_during_run(state: State, graph: Graph) -> tuple[list[Fact], list[TaskId]]:
    """Return the facts to append while a run goes on, and the tasks that stay although their lines are gone.

    A task that was begun is not given up for that: its lines may have been cut to be pasted. A person cancels
    it, or is asked at the next `interlock run`.
    """
    facts = changes(state, graph)
    begun = [fact for fact in facts if isinstance(fact, TaskRemoved) and state.tasks[fact.task].attempt]
    return [fact for fact in facts if fact not in begun], [fact.task for fact in begun]


def _refuse_another(known: TaskState, task: Task, source: str) -> None:
    """Refuse a task of the file that has the id of an added one and is not the same."""
    if known.spec != task:
        raise UsageError(
            f"{source} has a task `{task.id}`, but {known.origin.name} added another task with this id",
            f"rename it in {source}, or give the other one up: interlock cancel {task.id}",
        )
