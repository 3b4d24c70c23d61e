"""Requests of agents to edit more than was expected of them, and the answers."""

from dataclasses import replace

from interlock.events import facts as f
from interlock.events.asked import ScopeRequest
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.task import TaskId

REQUESTS_KEPT = 50
"""The latest requests of one task that are kept: the next attempt reads them."""


def scope_requested(state: State, fact: f.ScopeRequested, row: Recorded) -> set[TaskId]:
    """Note the request of an agent that is at work."""
    task = state.tasks.get(fact.task)
    if task is None or task.stage is not Stage.RUNNING:
        return set()
    if (fact.epoch, fact.attempt) != (task.epoch, task.attempt):
        return set()
    asked = ScopeRequest(row.seq, fact.attempt, fact.paths, fact.why)
    task.talk.requests = [*task.talk.requests[1 - REQUESTS_KEPT :], asked]
    return set()


def scope_answered(state: State, fact: f.ScopeAnswered, _: Recorded) -> set[TaskId]:
    """Note the first answer. Granted paths are held from now on, until the attempt's change has landed."""
    task = state.tasks.get(fact.task)
    if task is None or all(asked.seq != fact.request or asked.is_answered for asked in task.talk.requests):
        return set()
    task.talk.requests = [
        replace(asked, granted=fact.granted, answer=fact.why) if asked.seq == fact.request else asked
        for asked in task.talk.requests
    ]
    if not fact.granted or fact.attempt != task.attempt:
        return set()
    task.session.scope = tuple(dict.fromkeys((*task.session.scope, *fact.paths)))
    return {fact.task}
