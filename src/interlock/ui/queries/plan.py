"""The plan before anything runs: limits, standing and forecast; and the graph as Mermaid and Graphviz."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from interlock.events.finished import all_tasks
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.learn.categories import category
from interlock.model.task import OriginKind, TaskId
from interlock.plan import Analysis, Graph, Standing, changes
from interlock.plan.needed import needed_checks, proposed_checks
from interlock.ui.words.reasons import reason_object, with_reasons

if TYPE_CHECKING:
    from interlock.engine.foresight import Foreseen
    from interlock.engine.parallel import Parallel


def with_added(graph: Graph, state: State) -> Graph:
    """The graph and the tasks beside it that people, agents or events have added."""
    known = {task.id for task in graph.tasks}
    added = (
        task.spec
        for task in all_tasks(state)
        if task.spec.id not in known
        and task.stage is not Stage.REMOVED
        and task.origin.kind is not OriginKind.GRAPH
    )
    return replace(graph, tasks=(*graph.tasks, *added))


def plan_document(graph: Graph, analysis: Analysis, files: Collection[str] = ()) -> dict[str, object]:
    """The document of `interlock plan`, with the sentence beside each reason."""
    found: dict[str, Any] = msgspec.to_builtins(analysis, enc_hook=str)
    unscheduled = {name: reason_object(reason) for name, reason in analysis.unscheduled.items()}
    return {
        "graph": graph,
        "analysis": {**found, "unscheduled": unscheduled},
        "categories": with_reasons({task.id: category(task) for task in graph.tasks}),
        "may_proceed": analysis.may_proceed,
        "checks": {task.id: needed_checks(task) for task in graph.tasks},
        "proposed_checks": [
            {"run": command, "inputs": inputs} for command, inputs in proposed_checks(graph.tasks, files)
        ],
    }


def mermaid(graph: Graph, analysis: Analysis) -> str:
    numbers = {task.id: f"t{number}" for number, task in enumerate(graph.tasks)}
    lines = ["flowchart LR"]
    lines += [f'    {numbers[task.id]}["{task.id}"]' for task in graph.tasks]
    lines += [
        f"    {numbers[need]} --> {numbers[task.id]}"
        for task in graph.tasks
        for need in task.needs
        if need in numbers
    ]
    if analysis.critical_path:
        lines.append("    classDef critical stroke-width:4px")
        lines.append(f"    class {','.join(numbers[name] for name in analysis.critical_path)} critical")
    return "\n".join(lines)


def dot(graph: Graph, analysis: Analysis) -> str:
    """Return the plan for Graphviz. Ids hold no quotes, so they need no escaping."""
    critical = set(analysis.critical_path)
    lines = ["digraph tasks {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f'  "{task.id}"{" [penwidth=3]" if task.id in critical else ""};' for task in graph.tasks]
    lines += [f'  "{need}" -> "{task.id}";' for task in graph.tasks for need in task.needs]
    return "\n".join([*lines, "}"])


def foresee_plan(
    graph: Graph, state: State, at_once: tuple[int, int], picked: tuple[TaskId, ...] | None
) -> "Foreseen":
    """`at_once`: so many agents, so many checks."""
    from interlock.engine.foresight import Terms, foresee, planned

    return foresee(
        planned(state, changes(state, graph)),
        Terms(state.time, at_once[0], picked, lane_depth=at_once[1]),
    )


def agents_at_once(graph: Graph, state: State, many: "Parallel") -> int:
    """The number of agents that may work on the tasks to do: the clutch's limits, or its first ones."""
    if not many.auto:
        return many.most
    done = {name for name, task in state.tasks.items() if task.is_over} | state.done.packed.keys()
    kinds = {category(task).name for task in graph.tasks if task.id not in done}
    return max(1, min(sum(_allowed(state, kind, many) for kind in kinds), many.most))


def _allowed(state: State, kind: str, many: "Parallel") -> int:
    from interlock.engine.clutch import past_of
    from interlock.learn.clutch import beginning

    limit = state.limits.categories.get(kind)
    if limit and limit.goodput:
        return limit.limit
    return beginning(past_of(state, kind), many.most, cold=many.cold_start).agents


def standing_of(state: State, picked: tuple[TaskId, ...] | None) -> Standing:
    stages = {name: task.stage for name, task in state.tasks.items()}
    done = frozenset(name for name, stage in stages.items() if stage is Stage.DONE)
    return Standing(
        done=done | state.done.packed.keys(),
        given_up=frozenset(
            name for name, stage in stages.items() if stage in (Stage.FAILED, Stage.CANCELLED)
        ),
        selected=picked,
    )
