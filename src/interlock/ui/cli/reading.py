"""The state of a project as a reader sees it: the folded log, the claims, and the database's time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from interlock.engine.ledger import load_state
from interlock.events.fold import apply
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.claim import CONTROLLER, Held, task_resource
from interlock.model.task import TaskId
from interlock.store.protocol import Store

PAGE = 5_000
LOOK_AGAIN_SECONDS = 5.0
"""How often a follower asks whether the run is still alive when no fact comes."""


@dataclass(slots=True)
class Reading:
    """What is known at one moment."""

    state: State
    held: list[Held]
    now: float

    @property
    def controller(self) -> Held | None:
        """The claim of the loop in charge, if there is one and it is alive as far as can be known."""
        row = next((held for held in self.held if held.claim.resource == CONTROLLER), None)
        if row is None or row.expires_in_seconds <= 0:
            return None
        from interlock.engine.identity import is_dead

        return None if is_dead(row.claim.holder) else row

    @property
    def is_live(self) -> bool:
        """Is a loop at work on this project."""
        return self.controller is not None

    def claim_on(self, task: TaskId) -> Held | None:
        """Who works on a task."""
        return next((held for held in self.held if held.claim.resource == task_resource(task)), None)


async def read(store: Store) -> Reading:
    """Everything, as it is now."""
    state = await load_state(store)
    return Reading(state, await store.held(), await store.now())


async def catch_up(store: Store, state: State) -> list[Recorded]:
    """Fold what is new into `state`; the new rows."""
    new: list[Recorded] = []
    while rows := await store.read(state.seq, PAGE):
        for row in rows:
            apply(state, row)
        new += rows
    return new


async def all_rows(store: Store, after: int = 0) -> AsyncIterator[Recorded]:
    """The log from a position to its end."""
    while rows := await store.read(after, PAGE):
        for row in rows:
            yield row
        after = rows[-1].seq


def agent_log(task: str, attempt: int) -> str:
    """Where an agent's output is being written, in the state folder. Facts say so only at the end."""
    return f"logs/{task}/{attempt}.log"


async def history(store: Store, task: TaskId) -> list[Recorded]:
    """The facts that name a task, oldest first."""
    # The text is searched before it is decoded: most facts of a long log are about other tasks.
    quoted = f'"{task}"'
    return [row async for row in all_rows(store) if quoted in row.body and _is_about(row, task)]


def _is_about(row: Recorded, task: TaskId) -> bool:
    named = getattr(row.fact, "task", None)
    return getattr(named, "id", named) == task
