"""What the facts about forecasts, limits and lessons change in State."""

from collections.abc import Callable
from typing import Any

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import LessonState, Limit, Provider, State
from interlock.model.task import TaskId


def _estimated(state: State, fact: f.TaskEstimated, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None:
        return set()
    task.forecast = fact.forecast
    return {fact.task}


def _clutch_decided(state: State, fact: f.ClutchDecided, row: Recorded) -> set[TaskId]:
    if not fact.category:
        if state.run:
            state.run.limit = fact.limit
        return set()
    state.clutch[fact.category] = Limit(fact.limit, fact.brake, fact.why, row.time, fact.evidence or {})
    return set()


def _provider_braked(state: State, fact: f.ProviderBraked, row: Recorded) -> set[TaskId]:
    before = state.providers.get(fact.provider)
    calls, refused = (before.calls, before.refused) if before else (0, 0)
    state.providers[fact.provider] = Provider(
        fact.limit, fact.why, fact.until, row.time, calls + fact.calls, refused + fact.refused
    )
    return set()


def _lesson_learned(state: State, fact: f.LessonLearned, _: Recorded) -> set[TaskId]:
    state.lessons.setdefault(fact.lesson.id, LessonState(fact.lesson))
    return set()


def _lessons_offered(state: State, fact: f.LessonsOffered, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task and (fact.epoch, fact.attempt) == (task.epoch, task.attempt):
        task.offered, task.held_out = fact.offered, fact.held_out
    return set()


def _lesson_retired(state: State, fact: f.LessonRetired, _: Recorded) -> set[TaskId]:
    if lesson := state.lessons.get(fact.lesson):
        lesson.retired = fact.why
    return set()


def _scope_answered(state: State, fact: f.ScopeAnswered, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None or not fact.granted or fact.attempt != task.attempt:
        return set()
    task.scope = tuple(dict.fromkeys((*task.scope, *fact.paths)))
    return {fact.task}


def _nothing(_state: State, _fact: f.Fact, _: Recorded) -> set[TaskId]:
    """It is there to be read."""
    return set()


# Any: each handler takes the one kind of fact it is listed under.
HANDLERS: dict[type[f.Fact], Callable[[State, Any, Recorded], set[TaskId]]] = {
    f.TaskEstimated: _estimated,
    f.ClutchDecided: _clutch_decided,
    f.ProviderBraked: _provider_braked,
    f.LessonLearned: _lesson_learned,
    f.LessonsOffered: _lessons_offered,
    f.LessonRetired: _lesson_retired,
    f.ScopeRequested: _nothing,
    f.ScopeAnswered: _scope_answered,
    f.PoolMeasured: _nothing,
}
