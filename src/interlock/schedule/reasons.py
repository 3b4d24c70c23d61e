"""The reason for a task's state: one cause, as data. The first rule that fits decides."""

from collections.abc import Callable
from dataclasses import dataclass

from interlock.events.alone import kept_back
from interlock.events.baselines import obstacle
from interlock.events.leases import can_hold
from interlock.events.lifecycle import Stage
from interlock.events.main import frozen_by, leaving_need, unjudged
from interlock.events.money import short_of
from interlock.events.state import State, TaskState
from interlock.model.reason import MISSING, NOT_SELECTED, Reason, Value, Why, said
from interlock.model.task import PhaseKind, TaskId
from interlock.schedule.capacities import limit_reason
from interlock.schedule.holds import COUNTED, Demand, DemandKind, Holds, demands, lease_and_number

NAMES_KEPT = 4
"""The most tasks ahead in the lane that a reason names."""


class Needs:
    """Finds for each waiting task a task that it waits for and that will not land, if there is one."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._culprit: dict[TaskId, TaskId | None] = {}

    def forget(self) -> None:
        self._culprit.clear()

    def culprit(self, task: TaskId) -> TaskId | None:
        """The nearest task, through any number of needs, without which this one will never be free."""
        stack, opened = [task], set[TaskId]()
        while stack:
            name = stack[-1]
            if name in self._culprit:
                stack.pop()
            elif name in opened:
                self._culprit[name] = self._first_culprit(name)
            else:
                opened.add(name)
                stack.extend(n for n in self._unmet(name) if n not in opened and not self._is_dead(n))
        return self._culprit[task]

    def _first_culprit(self, name: TaskId) -> TaskId | None:
        for need in self._unmet(name):
            culprit = need if self._is_dead(need) else self._culprit.get(need)
            if culprit is not None:
                return culprit
        return None

    def _unmet(self, name: TaskId) -> list[TaskId]:
        return [n for n in self._state.tasks[name].spec.needs if not self._state.is_done(n)]

    def _is_dead(self, name: TaskId) -> bool:
        task = self._state.tasks.get(name)
        if task is None or task.is_over:
            return True
        return _has_run(self._state) and not self._state.is_selected(name)


@dataclass(frozen=True, slots=True)
class ReasonContext:
    """All that a reason may be drawn from."""

    state: State
    needs: Needs
    holds: Holds
    reserved: frozenset[TaskId]
    now: float


_Rule = Callable[[ReasonContext, TaskState], Reason | None]


def explain(standing: ReasonContext, task: TaskState) -> Reason:
    rules = _WAITING if task.stage is Stage.WAITING else (_over, _running)
    found = next((reason for rule in rules if (reason := rule(standing, task))), None)
    return found or Reason(Why.READY)


def _over(_: ReasonContext, task: TaskState) -> Reason | None:
    code = _OVER.get(task.stage)
    return Reason(code, {"attempts": task.attempt} | _cause(task.why)) if code else None


_OVER = {
    Stage.DONE: Why.DONE,
    Stage.FAILED: Why.FAILED,
    Stage.CANCELLED: Why.CANCELLED,
    Stage.REMOVED: Why.REMOVED,
}


def _cause(reason: Reason | None) -> dict[str, Value]:
    return {"cause": reason} if reason else {}


def _running(standing: ReasonContext, task: TaskState) -> Reason | None:
    seconds = max(0.0, standing.now - task.since)
    fields: dict[str, Value] = {"phase": task.phase.name, "attempt": task.attempt, "seconds": seconds}
    return Reason(Why.RUNNING, fields)


def _answer(_: ReasonContext, task: TaskState) -> Reason | None:
    return None if task.asks is None else Reason(Why.ANSWER, {"question": task.asks.text})


def _review(_: ReasonContext, task: TaskState) -> Reason | None:
    review = task.in_review
    return Reason(Why.REVIEW, _cause(review.why)) if review and not review.look_again else None


def _pull_request(_: ReasonContext, task: TaskState) -> Reason | None:
    opened = task.proposed
    if opened is None:
        return None
    fields: dict[str, Value] = {"number": opened.number, "url": opened.url, "standing": opened.standing}
    return Reason(Why.PULL_REQUEST, fields)


def _paused(_: ReasonContext, task: TaskState) -> Reason | None:
    if not task.queue.paused:
        return None
    if task.queue.held_back:
        return Reason(Why.HELD_BACK, {"task": task.spec.id, "cause": task.queue.held_back})
    return Reason(Why.PAUSED)


def _needs(standing: ReasonContext, task: TaskState) -> Reason | None:
    if need := leaving_need(standing.state, task):
        return Reason(Why.NEED_LEAVES, {"tasks": (need, standing.state.index.leaving[need])})
    if task.queue.unmet == 0:
        return None
    culprit = standing.needs.culprit(task.spec.id)
    if culprit is not None:
        fields: dict[str, Value] = {"tasks": (culprit,), "direct": culprit in task.spec.needs}
        return Reason(Why.NEEDS_FAILED, fields | _fate(standing.state, culprit))
    tasks = standing.state.tasks
    unmet = tuple(need for need in task.spec.needs if not standing.state.is_done(need))
    return Reason(Why.NEEDS, {"tasks": unmet, "states": tuple(tasks[need].stage.value for need in unmet)})


def _fate(state: State, name: TaskId) -> dict[str, Value]:
    task = state.tasks.get(name)
    if task is None:
        return {"fate": MISSING}
    if not task.is_over:
        return {"fate": NOT_SELECTED}
    fate: dict[str, Value] = {"fate": task.stage.value}
    return fate | _cause(task.why) if task.stage is Stage.FAILED else fate


def _held_up(standing: ReasonContext, task: TaskState) -> Reason | None:
    """Return the reason that a person must remove before a tested change lands. An active run tries again."""
    return task.held_up if task.waits_for_person or not _has_run(standing.state) else None


def _no_run(standing: ReasonContext, _: TaskState) -> Reason | None:
    return None if _has_run(standing.state) else Reason(Why.NO_RUN)


def _has_run(state: State) -> bool:
    return state.run is not None and state.run.ended is None


def _stopping(standing: ReasonContext, task: TaskState) -> Reason | None:
    run = standing.state.run
    if run is None or not run.stopping or (task.phase.kind is not PhaseKind.AGENT and not run.stop_agents):
        return None
    return Reason(Why.STOPPING)


def _not_selected(standing: ReasonContext, task: TaskState) -> Reason | None:
    if standing.state.is_selected(task.spec.id):
        return None
    return Reason(Why.NOT_SELECTED)


def _all_paused(standing: ReasonContext, task: TaskState) -> Reason | None:
    if not standing.state.limits.paused or task.phase.kind is not PhaseKind.AGENT:
        return None
    why = standing.state.limits.pause_why
    return Reason(Why.ALL_PAUSED, _cause(said(why) if why else None))


def _budget(standing: ReasonContext, task: TaskState) -> Reason | None:
    return short_of(standing.state, task, standing.now) if task.phase.kind is PhaseKind.AGENT else None


def _main(standing: ReasonContext, task: TaskState) -> Reason | None:
    """Finished work that waits until main is known to be green."""
    state = standing.state
    if broken := frozen_by(state, task):
        culprit = broken.culprit.commit if broken.culprit else ""
        return Reason(Why.MAIN_RED, {"command": broken.commands[0], "commit": culprit})
    if task.change.candidate and task.phase.kind is PhaseKind.LAND and unjudged(state):
        return Reason(Why.MAIN_UNTRIED, {"commit": state.main.commit})
    return None


def _check(standing: ReasonContext, task: TaskState) -> Reason | None:
    result = None if task.phase.kind is PhaseKind.LAND else obstacle(standing.state, task)
    if result is None:
        return None
    fields: dict[str, Value] = {"command": result.command, "exit_code": result.exit_code}
    return Reason(Why.CHECK, fields | {"unable": result.unable.value} if result.unable else fields)


def _backoff(standing: ReasonContext, task: TaskState) -> Reason | None:
    if task.queue.not_before <= standing.now:
        return None
    seconds = task.queue.not_before - standing.now
    return Reason(Why.BACKOFF, {"seconds": seconds, "until": task.queue.not_before} | _cause(task.why))


def _lane(standing: ReasonContext, task: TaskState) -> Reason | None:
    state, name = standing.state, task.spec.id
    if name in state.index.reconcile:
        return Reason(Why.LOOKED_UP)
    if name not in state.index.train:
        return None
    if alone := kept_back(state).get(name):
        fields: dict[str, Value] = {"tasks": (alone.holder,), "path": alone.path, "glob": alone.glob}
        return Reason(Why.HELD_ALONE, fields)
    train = list(state.index.train)
    place = train.index(name)
    if early := _tested_early(state, name):
        return early
    nearest = tuple(train[max(0, place - NAMES_KEPT) : place])
    return Reason(Why.LANE, {"place": place + 1, "phase": task.phase.name, "tasks": nearest})


def _tested_early(state: State, name: TaskId) -> Reason | None:
    """The build of a change that waits, running or green."""
    builds = (*state.builds.running.values(), *reversed(state.builds.ended))
    for build in builds:
        if build.task == name and build.main == state.main.commit and build.passed is not False:
            code = Why.BUILDS if build.passed is None else Why.BUILT
            return Reason(code, {"tasks": build.ahead})
    return None


def _lease(standing: ReasonContext, task: TaskState) -> Reason | None:
    for want in demands(task):
        holders = sorted(standing.holds.hard(want, task.spec.id) or ())
        if holders and want[0] not in COUNTED:
            kept = tuple(h for h in holders if h not in standing.reserved)
            code = Why.LEASE if kept else Why.KEPT_FREE
            return Reason(
                code, {"lease": _named(want), "kind": want[0].value, "tasks": kept or tuple(holders)}
            )
    return None


def _named(want: Demand) -> str:
    if want[0] is not DemandKind.LEASE:
        return want[1]
    name, many = lease_and_number(want[1])
    return name if many == 1 else f"{many} of {name}"


def _values(standing: ReasonContext, task: TaskState) -> Reason | None:
    """Finished work whose checks need what programs of other tasks hold now."""
    if task.phase.kind is not PhaseKind.CHECK or can_hold(standing.state, task):
        return None
    return _lease(standing, task)


def _clutch(standing: ReasonContext, task: TaskState) -> Reason | None:
    for want in demands(task):
        if want[0] in COUNTED and (holders := standing.holds.hard(want, task.spec.id)) is not None:
            return limit_reason(standing.state, want, holders)
    return None


def _slots(standing: ReasonContext, _: TaskState) -> Reason | None:
    state = standing.state
    limit = state.run.limit if state.run else 0
    agents = sorted({n for n in state.index.running if state.tasks[n].has_agent} | state.index.leftovers)
    if len(agents) < limit:
        return None
    return Reason(Why.SLOTS, {"limit": limit, "tasks": tuple(agents)})


def _overlap(standing: ReasonContext, task: TaskState) -> Reason | None:
    for want in demands(task):
        holders = sorted(standing.holds.soft(want, task.spec.id) or ())
        if holders:
            return Reason(Why.OVERLAP, {"path": want[1], "tasks": tuple(holders)})
    return None


_WAITING: tuple[_Rule, ...] = (
    _answer, _review, _pull_request, _paused, _needs, _main, _check, _held_up, _budget, _no_run,
    _stopping, _not_selected, _all_paused, _backoff, _values, _lane, _lease, _clutch, _slots, _overlap,
)  # fmt: skip
