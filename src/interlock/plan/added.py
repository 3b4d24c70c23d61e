"""A task that a person, another task or a program adds beside the graph file, with the same checks as in it.

Importing this module imports pydantic and the YAML parser, as `accept` does.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from interlock.model.errors import UsageError
from interlock.model.nearest import suggest
from interlock.model.task import Task, TaskId
from interlock.plan.accept import accept
from interlock.plan.cycles import find_cycle
from interlock.plan.problem import GraphProblems, Notes
from interlock.plan.schema import MAX_TASKS
from interlock.plan.yaml_text import read, split_lines


@dataclass(frozen=True, slots=True)
class Wish:
    """A task as it was asked for. What it leaves out comes from the `defaults` of the graph file."""

    id: str
    goal: str
    needs: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    agent: str = ""
    parent: str = ""


def added(wish: Wish, file: str, needs: Mapping[TaskId, Sequence[TaskId]]) -> Task:
    """The task, as this graph file would have it; `UsageError` with the first thing that is wrong.

    `needs` are those of all other tasks, from wherever they came.
    """
    if wish.id in needs:
        raise UsageError(f"there is a task `{wish.id}` already", f"interlock show {wish.id}")
    if len(needs) >= MAX_TASKS:
        raise UsageError(
            f"there are {len(needs)} tasks; at most {MAX_TASKS} are allowed", "wait for some to land"
        )
    task = _read(wish, file)
    for name in (*wish.needs, *filter(None, [wish.parent])):
        if name not in needs:
            hint = suggest(name, needs, "`interlock status` lists the tasks")
            raise UsageError(f"unknown task `{name}`", hint)
    task = replace(task, needs=tuple(dict.fromkeys(map(TaskId, wish.needs))))
    wanted = {str(name): others for name, others in needs.items()}
    circle = find_cycle(wanted | {str(task.id): task.needs})
    if task.id in circle:
        drawn = " -> ".join([*circle, circle[0]])
        raise UsageError(f"the needs form a cycle: {drawn}", "leave one of these needs out")
    return task


def _read(wish: Wish, file: str) -> Task:
    """Check the task by itself, with the agents and the defaults of the file, which was accepted before."""
    found = read(file, Notes("", split_lines(file)))
    graph = found.value if found and isinstance(found.value, dict) else {}
    asked = {"touches": wish.touches, "done_when": wish.done_when, "agent": wish.agent}
    fields = {"goal": wish.goal, **{name: value for name, value in asked.items() if value}}
    alone = {
        name: graph[name] for name in ("version", "agents", "routes", "leases", "defaults") if name in graph
    }
    text = json.dumps(alone | {"tasks": {wish.id: fields}}, ensure_ascii=False)
    try:
        return accept(text, "", None).tasks[0]
    except GraphProblems as problems:
        first = problems.problems[0]
        raise UsageError(first.message, first.hint) from None
