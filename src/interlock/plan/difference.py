"""The facts that bring the log up to date with the graph."""

from interlock.events.facts import Fact, PlanAccepted, TaskAccepted, TaskRemoved
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.task import Origin, OriginKind
from interlock.plan.graph import Graph


def changes(state: State, graph: Graph) -> list[Fact]:
    """The facts to append, none if the log knows it all. A file removes only tasks that it wrote, and none
    that has landed."""
    facts: list[Fact] = []
    origin = Origin(OriginKind.GRAPH, graph.source)
    if graph.digest != state.digest or graph.source != state.source:
        facts.append(PlanAccepted(graph.source, graph.digest, len(graph.tasks)))
    for task in graph.tasks:
        known = state.tasks.get(task.id)
        if known is None or known.stage is Stage.REMOVED or known.spec != task or known.origin != origin:
            facts.append(TaskAccepted(task, origin))
    present = {task.id for task in graph.tasks}
    gone = (id for id, task in state.tasks.items() if id not in present and task.origin == origin)
    facts.extend(TaskRemoved(id) for id in gone if state.tasks[id].stage not in (Stage.DONE, Stage.REMOVED))
    return facts
