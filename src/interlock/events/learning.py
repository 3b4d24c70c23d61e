"""Applies facts about forecasts, limits, requests for scope and lessons to State."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interlock.events import facts as f
from interlock.events.asked import ScopeRequest
from interlock.events.clutch import clutch_decided
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import LessonState, Measured, Provider, Unstated
from interlock.model.outcome import OWN_FAULTS
from interlock.model.reason import said
from interlock.model.task import TaskId

LANDINGS_KEPT = 8
PATHS_KEPT = 12
"""A lesson that was learned in more places than this holds by its check."""
REQUESTS_KEPT = 50
"""The latest requests of one task that are kept: the next attempt reads them."""


def _estimated(state: State, fact: f.TaskEstimated, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None:
        return set()
    task.forecast = fact.forecast
    return {fact.task}


def _scope_requested(state: State, fact: f.ScopeRequested, row: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None or task.stage is not Stage.RUNNING:
        return set()
    if (fact.epoch, fact.attempt) != (task.epoch, task.attempt):
        return set()
    asked = ScopeRequest(row.seq, fact.attempt, fact.paths, fact.why, fact.reserved)
    task.talk.requests = [*task.talk.requests[1 - REQUESTS_KEPT :], asked]
    return set()


def _scope_answered(state: State, fact: f.ScopeAnswered, _: Recorded) -> set[TaskId]:
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


def _provider_braked(state: State, fact: f.ProviderBraked, row: Recorded) -> set[TaskId]:
    before = state.limits.brakes.get(fact.provider)
    calls, refused = (before.calls, before.refused) if before else (0, 0)
    state.limits.brakes[fact.provider] = Provider(
        fact.limit, fact.why, fact.until, row.time, calls + fact.calls, refused + fact.refused
    )
    # Closed for longer is no other decision: one line for a dead server, however often it is tried.
    closed = state.limits.providers.get(fact.provider)
    if closed and closed.until and closed.until < fact.until:
        state.limits.providers[fact.provider] = replace(closed, until=fact.until)
    return set()


def _lesson_learned(state: State, fact: f.LessonLearned, _: Recorded) -> set[TaskId]:
    new = fact.lesson
    state.index.to_learn_from.discard(new.task)
    known = state.learned.lessons.get(new.id)
    if known is None:
        state.learned.lessons[new.id] = LessonState(new, shown_by=(new.commit,))
    elif new.author:
        known.retired = None
    elif new.commit and new.commit not in known.shown_by:  # a fact may stand twice in the log
        known.learned += 1
        known.shown_by = (*known.shown_by[1 - LANDINGS_KEPT :], new.commit)
        paths = dict.fromkeys((*known.lesson.paths, *new.paths))
        known.lesson = replace(known.lesson, paths=tuple(paths)[:PATHS_KEPT])
    return set()


def _nothing_learned(state: State, fact: f.NothingLearned, _: Recorded) -> set[TaskId]:
    state.index.to_learn_from.discard(fact.task)
    return set()


def credit(state: State, task: TaskState, fact: f.Fact) -> None:
    """Count an attempt's end for the lessons it was given, and for those it was not, if it carried no other
    lesson that has not proven itself.

    An attempt that ended through no fault of its own says nothing about them.
    """
    if not isinstance(fact, f.Landed | f.PhaseFailed) or fact.attempt != task.attempt:
        return
    has_landed = isinstance(fact, f.Landed)
    if isinstance(fact, f.PhaseFailed) and fact.error not in OWN_FAULTS:
        return
    lessons = state.learned.lessons
    given = [name for name in task.session.offered if name in lessons]
    doubted = {name for name in given if not lessons[name].is_trusted}
    for name in (*task.session.offered, *task.session.held_out):
        # The result of an attempt may be due to another lesson that it carried.
        if name not in lessons or doubted - {name}:
            continue
        lesson = lessons[name]
        if name in task.session.offered:
            lesson.with_tried += 1
            lesson.with_landed += has_landed
        else:
            lesson.without_tried += 1
            lesson.without_landed += has_landed
    if has_landed and any(failure.command and failure.commit for failure in task.trouble.failures):
        state.index.to_learn_from.add(task.spec.id)


def _lessons_offered(state: State, fact: f.LessonsOffered, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task and (fact.epoch, fact.attempt) == (task.epoch, task.attempt):
        task.session.offered, task.session.held_out = fact.offered, fact.held_out
    return set()


def _lesson_retired(state: State, fact: f.LessonRetired, _: Recorded) -> set[TaskId]:
    if lesson := state.learned.lessons.get(fact.lesson):
        lesson.retired = fact.reason or said(fact.why)
    return set()


def _pool_measured(state: State, fact: f.PoolMeasured, row: Recorded) -> set[TaskId]:
    state.learned.pool = Measured(fact.run, row.time, fact.figures)
    return set()


def _statements_delayed(state: State, fact: f.StatementsDelayed, _: Recorded) -> set[TaskId]:
    state.unstated = Unstated(fact.commits, fact.why) if fact.commits > 0 else None
    return set()


def _nothing(_state: State, _fact: f.Fact, _: Recorded) -> set[TaskId]:
    """Change nothing: the fact is there to be read."""
    return set()


# Any: each handler takes the one kind of fact it is listed under.
HANDLERS: dict[type[f.Fact], Callable[[State, Any, Recorded], set[TaskId]]] = {
    f.TaskEstimated: _estimated,
    f.ExperienceGathered: _nothing,
    f.ClutchDecided: clutch_decided,
    f.ProviderBraked: _provider_braked,
    f.LessonLearned: _lesson_learned,
    f.NothingLearned: _nothing_learned,
    f.LessonsOffered: _lessons_offered,
    f.LessonRetired: _lesson_retired,
    f.ScopeRequested: _scope_requested,
    f.ScopeAnswered: _scope_answered,
    f.PoolMeasured: _pool_measured,
    f.StatementsDelayed: _statements_delayed,
}
