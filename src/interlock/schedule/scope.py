"""The answer to an agent that wants to edit unexpected paths.

Yes, unless another task holds them alone: a line in a neighbour's file is better written than worked around.
When the run is strict, also not what another task is expected to edit.
"""

from interlock.events.asked import ScopeRequest
from interlock.events.facts import ScopeAnswered
from interlock.model.task import TaskId
from interlock.schedule.holds import DemandKind, Holds


def answer_request(holds: Holds, task: TaskId, asked: ScopeRequest, strict: bool) -> ScopeAnswered:
    """All of it or nothing, with the reason."""
    granted, why = _decide(holds, task, asked.paths, strict)
    return ScopeAnswered(task, asked.attempt, asked.paths, granted, why, asked.seq)


def _decide(holds: Holds, task: TaskId, paths: tuple[str, ...], strict: bool) -> tuple[bool, str]:
    shared: set[TaskId] = set()
    for path in paths:
        want = (DemandKind.TOUCH, path)
        if alone := holds.hard(want, task):
            return False, f"{_named(alone)} holds {path} alone until its change has landed"
        others = holds.soft(want, task) or set()
        if strict and others:
            return False, f"{_named(others)} is expected to edit {path}, and this run is strict"
        shared |= others
    if shared:
        return True, f"{_named(shared)} may edit it too, and both changes will be merged"
    return True, "no other task works on it"


def _named(tasks: set[TaskId]) -> str:
    return ", ".join(sorted(tasks))
