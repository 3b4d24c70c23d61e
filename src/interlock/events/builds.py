"""Folds the facts about builds.

Rules:
1. A build counts for the commit of main that it was made on, and for the changes that it has. A landing of
   one of these moves it on; any other landing is noted. A move of main by another hand makes it worthless.
2. Builds belong to the run that started them. What their checks showed outlives it (`State.checks`).
"""

from dataclasses import replace

from interlock.events import facts as f
from interlock.events.known_checks import note_times, remember
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build, Builds
from interlock.model.task import TaskId

ENDED_KEPT = 100
"""A change has a few builds, and no more than some twenty changes are built at a time."""
CONFLICTS_KEPT = 20
BESIDE_KEPT = 1_000
"""After landings with so many paths beside it a build counts no more."""


def forget_builds(state: State) -> None:
    """A run begins."""
    state.builds = Builds()


def build_started(state: State, fact: f.BuildStarted, row: Recorded) -> set[TaskId]:
    if fact.task not in state.tasks or len(fact.works) != len(fact.ahead) + 1:
        return set()
    state.builds.running[fact.slot] = Build(
        fact.task, fact.ahead, fact.works, fact.main, fact.epoch, row.time
    )
    return {fact.task}


def build_ended(state: State, fact: f.BuildEnded, row: Recorded) -> set[TaskId]:
    builds = state.builds
    build = builds.running.get(fact.slot)
    if build is None or (build.epoch, build.task) != (fact.epoch, fact.task):
        return set()
    del builds.running[fact.slot]
    if fact.why:
        builds.failures += 1
        builds.not_before = row.time + fact.retry_after_seconds
        return {fact.task}
    builds.failures = 0
    remember(state, fact.checks)
    note_times(state.checks.seconds, fact.checks)
    passed = not fact.conflicts and all(check.passed for check in fact.checks)
    results = tuple(replace(check, tail="", suite=None) for check in fact.checks)
    conflicts = fact.conflicts[:CONFLICTS_KEPT]
    ended = replace(build, passed=passed, seconds=fact.seconds, results=results, conflicts=conflicts)
    train = state.index.train
    builds.ended = (*(each for each in builds.ended if each.task in train), ended)[-ENDED_KEPT:]
    return {fact.task}


def builds_after_landing(state: State, task: TaskState, fact: f.Landed) -> None:
    """Move the builds on that are made on the commit that main was at (rule 1)."""
    builds = state.builds
    if not builds.running and not builds.ended:
        return
    builds.running = {slot: _after(build, task, fact) for slot, build in builds.running.items()}
    builds.ended = tuple(_after(build, task, fact) for build in builds.ended)


def _after(build: Build, task: TaskState, fact: f.Landed) -> Build:
    work, name = task.change.work, task.spec.id
    if build.main != fact.base or work is None:
        return build
    if name not in build.ahead and len(build.beside) < BESIDE_KEPT:
        beside = tuple(dict.fromkeys((*build.beside, *work.touched)))
        return replace(build, main=fact.commit, beside=beside)
    at = build.ahead.index(name) if name in build.ahead else None
    if at is None or build.works[at] != work.commit:
        return build
    ahead, works = list(build.ahead), list(build.works)
    del ahead[at], works[at]
    return replace(build, main=fact.commit, ahead=tuple(ahead), works=tuple(works))
