"""Capacities: the number of agents that may hold the same thing at once, as State says. Counts, not leases.

A kind of work and a provider have as many places as the clutch gives them, a role as many as the settings
say. A new limit of this sort adds its kind here and to what tasks want (`holds.demands`); a full one
shuts one line, so it costs nothing for each task.
"""

import math

from interlock.events.state import State
from interlock.events.state_parts import Limit
from interlock.model.leases import count_of
from interlock.model.reason import Reason, Value, Why
from interlock.model.task import TaskId
from interlock.schedule.holds import SEVERAL, Demand, DemandKind, lease_and_number


class Capacities:
    """The places there are, at a time."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.now = 0.0

    def places(self, demand: Demand) -> float:
        if demand[0] is DemandKind.ROLE:
            run = self._state.run
            return run.slots.get(demand[1], math.inf) if run else math.inf
        kind, name = demand
        if kind is DemandKind.LEASE:
            return count_of(self._state.graph.leases, lease_and_number(name)[0])
        if kind is DemandKind.PROVIDER and SEVERAL in name:
            each = [self.places((kind, one)) for one in name.split(SEVERAL)]
            return math.inf if any(each) else 0
        limit = _limits(self._state, kind).get(name)
        if limit is None:
            return math.inf
        return math.inf if limit.until and limit.until <= self.now else limit.limit

    def opens_at(self, demand: Demand) -> float | None:
        """Return the time at which a capacity without places has some again by itself."""
        if demand[0] is DemandKind.LEASE:
            return None
        limits = _limits(self._state, demand[0])
        known = [limits.get(name) for name in demand[1].split(SEVERAL)]
        return min((one.until for one in known if one and one.until > self.now), default=None)

    def is_limited(self, demand: Demand) -> bool:
        return self.places(demand) != math.inf


def _limits(state: State, kind: DemandKind) -> dict[str, Limit]:
    return state.limits.providers if kind is DemandKind.PROVIDER else state.limits.categories


def limit_reason(state: State, demand: Demand, holders: set[TaskId]) -> Reason:
    tasks = tuple(sorted(holders))
    if demand[0] is DemandKind.ROLE:
        places = state.run.slots.get(demand[1], 0) if state.run else 0
        return Reason(Why.ROLE_SLOTS, {"role": demand[1], "limit": places, "tasks": tasks})
    names = tuple(demand[1].split(SEVERAL))
    limit = min((_limits(state, demand[0])[name] for name in names), key=lambda each: each.until)
    because: dict[str, Value] = {"cause": limit.why} if limit.why else {}
    if limit.until:
        return Reason(
            Why.PROVIDER_CLOSED,
            {"providers": names, "tasks": tasks, "until": limit.until, **because},
        )
    kind = "category" if demand[0] is DemandKind.CATEGORY else "provider"
    return Reason(Why.CLUTCH, {kind: demand[1], "brake": limit.brake, "tasks": tasks, **because})
