"""Folds the facts about builds.

Rules:
1. A build counts for the commit of main that it was made on, and for the changes that it has. A landing of
   one of these moves it on; any other landing is noted. A move of main by another hand makes it worthless.
2. Builds belong to the run that started them. What their checks showed outlives it (`State.checks`).
"""

from collections.abc import Mapping
from dataclasses import replace

from interlock.events import facts as f
from interlock.events.known_checks import note_times, remember
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build, Builds
from interlock.events.task_parts import Work
from interlock.model.outcome import CheckResult
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
        fact.task, fact.ahead, fact.works, fact.main, fact.epoch, row.time, batch=fact.batch
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
    joint = _whole(fact)
    remember(state, (*fact.checks, *joint))
    note_times(state.checks.seconds, fact.checks)
    passed = not fact.conflicts and all(check.passed for check in fact.checks)
    results = tuple(replace(check, tail="", suite=None) for check in fact.checks)
    conflicts = fact.conflicts[:CONFLICTS_KEPT]
    wholes = tuple((check.command, check.change) for check in joint)
    ended = replace(
        build, passed=passed, seconds=fact.seconds, results=results, joint=wholes, conflicts=conflicts
    )
    train = state.index.train
    builds.ended = (*(each for each in builds.ended if each.task in train), ended)[-ENDED_KEPT:]
    return {fact.task}


def _whole(fact: f.BuildEnded) -> tuple[CheckResult, ...]:
    """Return the results for all changes as one, with what the fact says only of the last one's."""
    suites = {check.command: check.suite for check in fact.checks}
    return tuple(replace(check, suite=suites.get(check.command)) for check in fact.joint)


def set_apart(state: State, task: TaskState) -> None:
    """Note that the changes of a joint check do not land as one: they are judged one by one."""
    state.builds.ended = tuple(
        replace(build, apart=True) if (*build.ahead, build.task) == task.change.together else build
        for build in state.builds.ended
    )


def builds_after_landing(state: State, task: TaskState, fact: f.Landed) -> None:
    """Move the builds on that are made on the commit that main was at (rule 1)."""
    builds = state.builds
    if not builds.running and not builds.ended:
        return
    made = task.change.candidate
    names = made.joined.tasks if made and made.joined else (task.spec.id,)
    landed = {name: each.change.work for name in names if (each := state.tasks.get(name))}
    builds.running = {slot: _after(build, landed, fact) for slot, build in builds.running.items()}
    builds.ended = tuple(_after(build, landed, fact) for build in builds.ended)


def _after(build: Build, landed: Mapping[TaskId, Work | None], fact: f.Landed) -> Build:
    """Return a build as it is on the new main. The first of several facts about a commit moves it on."""
    if build.main != fact.base or len(build.beside) >= BESIDE_KEPT:
        return build
    ahead, works, beside = list(build.ahead), list(build.works), list(build.beside)
    for name, work in landed.items():
        at = ahead.index(name) if name in ahead else None
        if work is None or (at is not None and works[at] != work.commit):
            return build
        if at is None:
            beside += work.touched
        else:
            del ahead[at], works[at]
    return replace(
        build,
        main=fact.commit,
        ahead=tuple(ahead),
        works=tuple(works),
        beside=tuple(dict.fromkeys(beside)),
    )
