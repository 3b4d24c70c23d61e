"""The state of a project as a reader sees it: the folded log, the claims, and the database's time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from interlock.engine.identity import in_charge
from interlock.events.asked import Permission, Proposal
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.model.claim import Held, task_resource
from interlock.model.task import TaskId
from interlock.store.protocol import Store

PAGE = 5_000
LOOK_AGAIN_SECONDS = 5.0
"""The interval at which a follower checks that the run is alive while no fact comes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The state, the claims and the time at one moment."""

    state: State
    now: float
    controller: Held | None
    """The claim of the loop in charge, if there is one and it is alive as far as can be known."""
    claims: dict[str, Held]

    @property
    def is_live(self) -> bool:
        return self.controller is not None

    def claim_on(self, task: TaskId) -> Held | None:
        return self.claims.get(task_resource(task))


async def look(store: Store, state: State) -> Reading:
    """A state that was read before, with the claims and the time as they are now."""
    claims = {held.claim.resource: held for held in await store.held()}
    return Reading(state, await store.now(), in_charge(claims.values()), claims)


async def all_rows(store: Store, after: int = 0) -> AsyncIterator[Recorded]:
    while rows := await store.read(after, PAGE):
        for row in rows:
            yield row
        after = rows[-1].seq


async def rows_since(store: Store, time: float) -> AsyncIterator[Recorded]:
    """The facts from a time on. Their times never go back, so the first is found in a few reads."""
    first, end = 0, await store.head()
    while first < end:
        middle = (first + end) // 2
        found = await store.read(middle, 1)
        if found and found[0].time < time:
            first = middle + 1
        else:
            end = middle
    async for row in all_rows(store, first):
        yield row


async def history(store: Store, task: TaskId) -> list[Recorded]:
    return [row for row in await store.about_task(task) if _is_about(row, task)]


def _is_about(row: Recorded, task: TaskId) -> bool:
    named = getattr(row.fact, "task", None)
    return getattr(named, "id", named) == task


def open_proposals(state: State, task: TaskState) -> list[Proposal]:
    """Return the tasks that agents of this one proposed and no person has decided about."""
    return [made for made in task.talk.proposals if not made.declined and not state.knows(TaskId(made.id))]


def open_permissions(task: TaskState) -> list[Permission]:
    if not task.has_agent:
        return []
    return [asked for asked in task.talk.permissions if asked.allow is None and asked.attempt == task.attempt]
