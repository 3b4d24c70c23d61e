"""Applies decisions of the clutch to State, and counts the results of each."""

from dataclasses import replace

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.events.state_parts import Limit
from interlock.events.tallies import MOST_AGENTS
from interlock.model.outcome import ErrorClass
from interlock.model.task import TaskId

TROUBLE = frozenset({ErrorClass.CONFLICT, ErrorClass.CHECK})
"""Failures that other agents at work may have caused."""


def clutch_decided(state: State, fact: f.ClutchDecided, row: Recorded) -> set[TaskId]:
    """Set the limit of a provider's agents, of a kind of work, or of all together."""
    goodput = min(fact.goodput, MOST_AGENTS)
    said = Limit(fact.limit, fact.brake, fact.why, row.time, fact.evidence or {}, goodput, fact.until)
    if fact.provider:
        state.limits.providers[fact.provider] = said
    elif fact.category:
        before = state.limits.categories.get(fact.category)
        if before and before.goodput == said.goodput:  # only another brake: what is being tried goes on
            said = replace(said, landed=before.landed, troubled=before.troubled)
        state.limits.categories[fact.category] = said
    elif state.run:
        state.run.limit, state.run.brake = fact.limit, said
    return set()


def witness(state: State, fact: f.Fact, changed: set[TaskId]) -> None:
    """Count the results of the number that is being tried: only attempts with all agents at work."""
    if not isinstance(fact, f.Landed | f.PhaseFailed) or fact.task not in changed:
        return
    task = state.tasks[fact.task]
    shift, limits = task.session.shift, state.limits.categories
    limit = limits.get(shift.category) if shift else None
    if limit is None or shift is None or shift.agents < limit.goodput:
        return
    if isinstance(fact, f.Landed):
        limits[shift.category] = replace(limit, landed=limit.landed + 1)
    elif fact.error in TROUBLE:
        limits[shift.category] = replace(limit, troubled=limit.troubled + 1)
