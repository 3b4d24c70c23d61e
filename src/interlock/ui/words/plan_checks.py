"""The checks that tasks will need, in words, and checks with inputs that could be declared."""

import json
from collections.abc import Collection, Iterator, Sequence

from interlock.model.task import Task, TaskId
from interlock.plan import Graph
from interlock.plan.needed import needed_checks, proposed_checks
from interlock.ui.plain import counted, one_line

LISTED = 20


def check_lines(graph: Graph, order: Sequence[TaskId], files: Collection[str]) -> Iterator[str]:
    """The checks of each task to do, if any of these has inputs; else a proposal, if there is one."""
    tasks = {task.id: task for task in graph.tasks}
    to_do = [tasks[name] for name in order if name in tasks]
    if any(task.inputs for task in to_do):
        yield from _needed(to_do)
    elif proposed := proposed_checks(graph.tasks, files):
        folders = counted(len(proposed), "folder")
        why = "with inputs, a change in one reuses the results of the others"
        checks = ", ".join(
            f"{{run: {json.dumps(run)}, inputs: {json.dumps(globs)}}}" for run, globs in proposed
        )
        yield f"proposal       {folders} have tests of their own: {why}"
        yield f"  verify: [{checks}]"
        yield "               add what the tests read besides; `interlock doctor` shows what is missing"


def _needed(to_do: Sequence[Task]) -> Iterator[str]:
    needed = {task.id: needed_checks(task) for task in to_do}
    runs = sum(len(each.runs) for each in needed.values())
    whole = runs + sum(len(each.reused) for each in needed.values())
    yield f"checks         {runs} of {whole} probably run, by `touches`; the others have the results of main"
    for name, each in list(needed.items())[:LISTED]:
        listed = ", ".join(f"`{one_line(command)}`" for command in each.runs)
        yield f"  {name}: {listed or 'none'}" + (f", reuses {len(each.reused)}" if each.reused else "")
    if len(needed) > LISTED:
        yield f"  ... and {len(needed) - LISTED} more: interlock plan --format json"
