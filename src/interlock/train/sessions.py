"""The session of an attempt: one that was cut off goes on, or a new one begins.

1. An attempt continues the session that was cut off before it, on the same base, if it has the same agent and
   its program can resume. Else it begins from the beginning.
2. A program that does not have the session any more gives up before its model is heard of. What each says
   then differs, so that is the sign. It gets a new session in the same attempt and workspace, where what the
   earlier one wrote still is.
3. If the checks refuse a change and another agent gets the task, its workspace begins with that change on top
   of main: it need not find out again what was right. The same agent begins from main, as it has gone astray.
"""

from collections.abc import Collection
from dataclasses import replace

from interlock.events.state import TaskState
from interlock.events.task_parts import Failure
from interlock.model.outcome import ErrorClass, Order, Resume
from interlock.model.task import Agent


def resumed(task: TaskState, agent: Agent, resumable: Collection[str]) -> Resume | None:
    """Return the session that an attempt of this agent goes on with; `resumable` are the kinds of agents
    whose programs can (rule 1)."""
    found = task.session.cut_off
    goes_on = task.who.name == agent.name and agent.use in resumable
    return found if found and found.session and goes_on else None


def carried(task: TaskState, agent: Agent) -> Failure | None:
    """Return the failure whose change an attempt of this agent begins with; None: it begins from main
    (rule 3)."""
    last = task.trouble.failures[-1] if task.trouble.failures else None
    is_for_another = last is not None and last.agent not in ("", agent.name)
    return last if last and is_for_another and last.error is ErrorClass.CHECK and last.commit else None


def afresh(order: Order, error: ErrorClass | None, *, has_begun: bool) -> Order | None:
    """Return the order for a new session after one that could not be resumed; None: there is no need
    (rule 2)."""
    if order.resume is None or not order.resume.session or has_begun or error is not ErrorClass.EXIT:
        return None
    return replace(order, resume=replace(order.resume, session=""))
