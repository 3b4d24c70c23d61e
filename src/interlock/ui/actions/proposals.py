"""Accept or decline a task that an agent proposed. Agents cannot do either."""

from typing import TYPE_CHECKING

from interlock.events.asked import Proposal
from interlock.events.facts import ProposalDeclined
from interlock.events.state import State, TaskState
from interlock.model.errors import UsageError
from interlock.model.task import Origin, OriginKind, Task
from interlock.store.protocol import Store
from interlock.ui.actions.tasks import add_task
from interlock.ui.reading import open_proposals

if TYPE_CHECKING:  # what reads a graph takes long to import
    from interlock.engine.project import Project


def find_proposal(state: State, name: str) -> tuple[TaskState, Proposal]:
    """The open proposal `PARENT/ID`, or `ID` if only one task has one of that name."""
    parent, _, id = name.rpartition("/")
    found = [
        (task, made)
        for task in state.tasks.values()
        for made in open_proposals(state, task)
        if made.id == id and parent in ("", task.spec.id)
    ]
    if not found:
        raise UsageError(f"no open proposal `{name}`", "`interlock inbox` lists them")
    if len(found) > 1:
        names = ", ".join(f"{task.spec.id}/{made.id}" for task, made in found)
        raise UsageError(f"several tasks propose `{name}`: {names}", "name one of these")
    return found[0]


async def accept_proposal(
    project: "Project", state: State, task: TaskState, made: Proposal, actor: str
) -> Task:
    """Add the task exactly as it was proposed. Brings `state` up to date."""
    from interlock.plan.added import Wish

    parent = task.spec.id
    wish = Wish(made.id, made.goal, made.needs, made.touches, made.done_when, parent=parent)
    return await add_task(project, state, wish, Origin(OriginKind.PARENT, parent), actor)


async def decline_proposal(store: Store, task: TaskState, made: Proposal, actor: str) -> None:
    await store.append([ProposalDeclined(task.spec.id, made.id)], actor)
