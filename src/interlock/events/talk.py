"""Applies what people say to agents, and what sessions end with, to State."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interlock.events import facts as f
from interlock.events.asked import Said, SessionEnd
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.task import TaskId

MESSAGES_KEPT = 20
"""A person who said more than this to one agent is better off with a new goal."""


def _message_said(state: State, fact: f.MessageSaid, row: Recorded) -> set[TaskId]:
    if task := state.tasks.get(fact.task):
        task.talk.said = [*task.talk.said[1 - MESSAGES_KEPT :], Said(row.seq, fact.text)]
    return set()


def _permission_answered(state: State, fact: f.PermissionAnswered, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None:
        return set()
    task.talk.permissions = [
        replace(asked, allow=fact.allow)
        if asked.allow is None and (asked.attempt, asked.call) == (fact.attempt, fact.call)
        else asked
        for asked in task.talk.permissions
    ]
    return {fact.task}


def _proposal_declined(state: State, fact: f.ProposalDeclined, _: Recorded) -> set[TaskId]:
    if task := state.tasks.get(fact.task):
        task.talk.proposals = [
            replace(made, declined=True) if made.id == fact.id else made for made in task.talk.proposals
        ]
    return set()


def _notes_saved(state: State, fact: f.NotesSaved, _: Recorded) -> set[TaskId]:
    if task := state.tasks.get(fact.task):
        task.session.end = SessionEnd(fact.attempt, fact.reason, fact.summary, fact.path)
    return set()


def _nothing(_state: State, _fact: f.Fact, _: Recorded) -> set[TaskId]:
    """Change nothing: the fact is there to be read."""
    return set()


# Any: each handler takes the one kind of fact it is listed under.
TALK_HANDLERS: dict[type[f.Fact], Callable[[State, Any, Recorded], set[TaskId]]] = {
    f.MessageSaid: _message_said,
    f.MessageDelivered: _nothing,
    f.PermissionAnswered: _permission_answered,
    f.NotesSaved: _notes_saved,
    f.ProposalDeclined: _proposal_declined,
}
