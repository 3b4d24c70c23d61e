"""Scheduling problems that others have published: PSPLIB `.sm` and WfFormat `.json` files."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interlock.model.task import Agent, Task, TaskId

AGENT = Agent("bench", "command", ("true",))
SECONDS_PER_UNIT = 60.0
"""PSPLIB counts in abstract units; as minutes they are about as long as what agents do."""


def read_instances(folder: Path) -> dict[str, list[list[Task]]]:
    """All instances below a folder, by the kind of file."""
    kinds: dict[str, Callable[[str], list[Task]]] = {"sm": read_psplib, "json": read_wfformat}
    found = {
        f"{folder.name} .{kind}": [read(file.read_text()) for file in sorted(folder.rglob(f"*.{kind}"))]
        for kind, read in kinds.items()
    }
    return {name: group for name, group in found.items() if group}


def read_psplib(text: str) -> list[Task]:
    """Jobs with their durations and successors; resources are left out, as workers are the only one here."""
    following = {int(row[0]): list(map(int, row[3:])) for row in _section(text, "PRECEDENCE RELATIONS")}
    units = {int(row[0]): float(row[2]) for row in _section(text, "REQUESTS/DURATIONS")}
    needs: dict[str, list[str]] = {str(job): [] for job in units}
    for job, successors in following.items():
        for successor in successors:
            needs[str(successor)].append(str(job))
    # The first and the last job stand for start and end and take no time; the board wants some.
    return _in_order(needs, {str(job): max(unit * SECONDS_PER_UNIT, 1e-3) for job, unit in units.items()})


def _section(text: str, title: str) -> list[list[str]]:
    body = text.split(title, 1)[1].split("****", 1)[0]
    return [line.split() for line in body.splitlines() if re.match(r"\s*\d+\s+\d+", line)]


def read_wfformat(text: str) -> list[Task]:
    """Tasks of a recorded workflow with their run times."""
    workflow = json.loads(text)["workflow"]
    tasks = workflow.get("specification", workflow).get("tasks", [])
    measured = {task["id"]: task for task in workflow.get("execution", {}).get("tasks", [])}
    needs = {task["id"]: list(task.get("parents", [])) for task in tasks}
    seconds = {task["id"]: _runtime(measured.get(task["id"], task)) for task in tasks}
    return _in_order(needs, seconds)


def _runtime(task: dict[str, Any]) -> float:  # Any: JSON of others
    return max(float(task.get("runtimeInSeconds", task.get("runtime", 1.0))), 1e-3)


def _in_order(needs: dict[str, list[str]], seconds: dict[str, float]) -> list[Task]:
    """As tasks, each after what it needs."""
    numbers: dict[str, TaskId] = {}
    tasks: list[Task] = []
    left = dict(needs)
    while left:
        free = [name for name, wanted in left.items() if all(need in numbers for need in wanted)]
        assert free, "the instance has a cycle"
        for name in free:
            numbers[name] = TaskId(f"t{len(numbers)}")
            wanted = tuple(numbers[need] for need in dict.fromkeys(left.pop(name)))
            tasks.append(Task(numbers[name], "", AGENT, needs=wanted, estimate_seconds=seconds[name]))
    return tasks
