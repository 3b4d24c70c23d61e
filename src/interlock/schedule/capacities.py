"""How many agents may hold the same thing at once, as State says: limits that are counts, not leases.

A kind of work has as many places as the clutch gives it, a role as many as the settings say. Whoever adds a
limit of this sort adds its kind here and to what tasks want (`holds.demands`); a full one shuts one line, so
it costs nothing for each task.
"""

import math

from interlock.events.state import State
from interlock.model.reason import Reason, Why
from interlock.model.task import TaskId
from interlock.schedule.holds import Demand, Kind


class Capacities:
    """The places there are, at a time."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.now = 0.0

    def places(self, demand: Demand) -> float:
        """How many may hold this at once."""
        if demand[0] is Kind.ROLE:
            run = self._state.run
            return run.slots.get(demand[1], math.inf) if run else math.inf
        limit = self._state.clutch.get(demand[1])
        return limit.limit if limit else math.inf

    def is_limited(self, demand: Demand) -> bool:
        """Has anybody said how many."""
        return self.places(demand) != math.inf


def limit_reason(state: State, demand: Demand, holders: set[TaskId]) -> Reason:
    """Why a task waits for a place."""
    if demand[0] is Kind.ROLE:
        places = state.run.slots.get(demand[1], 0) if state.run else 0
        full = f"all {places} slots" if places != 1 else "the one slot"
        taken = f"{full} for a {demand[1]} {'is' if places == 1 else 'are'} taken"
        return Reason(Why.SLOTS, f"{taken}, by {', '.join(sorted(holders)[:4])}", tuple(sorted(holders)))
    limit = state.clutch[demand[1]]
    at_work = f"{len(holders)} agents work" if len(holders) != 1 else "one agent works"
    text = f"{at_work} on {demand[1]}, which is what the clutch allows now ({limit.brake}: {limit.why})"
    return Reason(Why.CLUTCH, text, tuple(sorted(holders)))
