"""The reason for a task's state: one cause, as data and as a sentence. The first rule that fits decides."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interlock.events.alone import kept_back
from interlock.events.baselines import obstacle
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.durations import lasting
from interlock.model.reason import Reason, Why
from interlock.model.task import PhaseKind, TaskId
from interlock.schedule.capacities import limit_reason
from interlock.schedule.holds import COUNTED, Holds, demands

NAMES_SHOWN = 4
QUESTION_CHARS = 200


class Needs:
    """Finds for each waiting task a task that it waits for and that will not land, if there is one."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._culprit: dict[TaskId, TaskId | None] = {}

    def forget(self) -> None:
        """State has changed."""
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
        tasks = self._state.tasks
        return [n for n in tasks[name].spec.needs if n not in tasks or tasks[n].stage is not Stage.DONE]

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
    """The one cause that matters now."""
    rules = _WAITING if task.stage is Stage.WAITING else (_over, _running)
    found = next((reason for rule in rules if (reason := rule(standing, task))), None)
    return found or Reason(Why.READY, "ready")


def _over(_: ReasonContext, task: TaskState) -> Reason | None:
    if task.stage is Stage.DONE:
        return Reason(Why.DONE, f"done: {task.why}" if task.why else "done")
    if task.stage is Stage.FAILED:
        return Reason(Why.FAILED, f"failed: {task.why}")
    if task.stage in (Stage.CANCELLED, Stage.REMOVED):
        return Reason(Why.CANCELLED, f"{task.stage}: {task.why}")
    return None


def _running(standing: ReasonContext, task: TaskState) -> Reason | None:
    seconds = max(0.0, standing.now - task.since)
    text = f"{task.phase.name} is running, attempt {task.attempt}, for {lasting(seconds)}"
    if _is_on_top(standing.state, task):
        text += f"; being checked on top of {task.ahead}, which is not on main yet"
    return Reason(Why.RUNNING, text, (task.spec.id,))


def _is_on_top(state: State, task: TaskState) -> bool:
    """Tell if its check is, or was, on top of a change that is not on main yet."""
    return task.ahead in state.train and task.spec.id in state.train


def _answer(_: ReasonContext, task: TaskState) -> Reason | None:
    if task.asks is None:
        return None
    text = " ".join(task.asks.text.split())
    return Reason(Why.ANSWER, f"asks: {f'{text[:QUESTION_CHARS]}…' if len(text) > QUESTION_CHARS else text}")


def _paused(_: ReasonContext, task: TaskState) -> Reason | None:
    if not task.paused:
        return None
    if task.held_back:
        return Reason(
            Why.PAUSED, f"held back: {task.held_back}; `interlock unpause {task.spec.id}` tries again"
        )
    return Reason(Why.PAUSED, "a person paused this task")


def _needs(standing: ReasonContext, task: TaskState) -> Reason | None:
    if task.unmet == 0 or task.phase.kind is not PhaseKind.AGENT:
        return None
    culprit = standing.needs.culprit(task.spec.id)
    if culprit is not None:
        through = "" if culprit in task.spec.needs else " (required by its needs)"
        text = f"blocked by {culprit}{through}: {_fate(standing.state, culprit)}"
        return Reason(Why.NEEDS_FAILED, text, (culprit,))
    tasks = standing.state.tasks
    unmet = tuple(
        need for need in task.spec.needs if need not in tasks or tasks[need].stage is not Stage.DONE
    )
    return Reason(Why.NEEDS, f"waits for {_names(f'{need} ({tasks[need].stage})' for need in unmet)}", unmet)


def _fate(state: State, name: TaskId) -> str:
    task = state.tasks.get(name)
    if task is None:
        return "there is no such task"
    if not task.is_over:
        return "it is not part of this run"
    return f"it was {task.stage}" if task.stage is not Stage.FAILED else f"it failed ({task.why})"


def _no_run(standing: ReasonContext, _: TaskState) -> Reason | None:
    return (
        None
        if _has_run(standing.state)
        else Reason(Why.NO_RUN, "nothing is running: start with `interlock run`")
    )


def _has_run(state: State) -> bool:
    return state.run is not None and state.run.ended is None


def _stopping(standing: ReasonContext, task: TaskState) -> Reason | None:
    run = standing.state.run
    if run is None or not run.stopping or (task.phase.kind is not PhaseKind.AGENT and not run.stop_agents):
        return None
    return Reason(Why.STOPPING, "the run is stopping and starts nothing new")


def _not_selected(standing: ReasonContext, task: TaskState) -> Reason | None:
    if standing.state.is_selected(task.spec.id):
        return None
    return Reason(Why.NOT_SELECTED, "it is not among the tasks that this run was told to do")


def _all_paused(standing: ReasonContext, task: TaskState) -> Reason | None:
    if not standing.state.paused or task.phase.kind is not PhaseKind.AGENT:
        return None
    because = f": {standing.state.pause_why}" if standing.state.pause_why else ""
    return Reason(Why.PAUSED, f"a person paused all new starts{because}")


def _check(standing: ReasonContext, task: TaskState) -> Reason | None:
    result = None if task.phase.kind is PhaseKind.LAND else obstacle(standing.state, task.spec)
    if result is None:
        return None
    how = "cannot run" if result.unable else "fails"
    return Reason(Why.CHECK, f"`{result.command}` {how} on main, so nothing of it could land")


def _backoff(standing: ReasonContext, task: TaskState) -> Reason | None:
    if task.not_before <= standing.now:
        return None
    seconds = task.not_before - standing.now
    because = f": {task.why}" if task.why else ""
    return Reason(Why.BACKOFF, f"tries again in {lasting(seconds)}{because}", until=task.not_before)


def _lane(standing: ReasonContext, task: TaskState) -> Reason | None:
    state, name = standing.state, task.spec.id
    if name in state.reconcile:
        return Reason(Why.LANE, "its tested change may be on main already; that is being looked up")
    if name not in state.train:
        return None
    if task.candidate and _is_on_top(state, task):
        text = (
            f"ready to land after {task.ahead}, which it was checked on top of and which is not on main yet"
        )
        return Reason(Why.LANE, text, (task.ahead,))
    if alone := kept_back(state).get(name):
        text = f"edited {alone.path}, and {alone.holder} holds {alone.glob} alone; it lands after that"
        return Reason(Why.LEASE, text, (alone.holder,))
    ahead = []
    for other in state.train:
        if other == name:
            break
        ahead.append(other)
    if not ahead:
        return Reason(Why.LANE, f"first in the lane to main; {task.phase.name} is next")
    text = f"place {len(ahead) + 1} in the lane to main, behind {_names(reversed(ahead))}"
    return Reason(Why.LANE, text, tuple(ahead[-NAMES_SHOWN:]))


def _lease(standing: ReasonContext, task: TaskState) -> Reason | None:
    for want in demands(task):
        holders = sorted(standing.holds.hard(want, task.spec.id) or ())
        if holders and want[0] not in COUNTED:
            kept = [h for h in holders if h not in standing.reserved]
            verb = "held by" if kept else "kept free for the first in order,"
            text = f"wants {want[1]} ({want[0]}), {verb} {_names(kept or holders)}"
            return Reason(Why.LEASE, text, tuple(holders))
    return None


def _clutch(standing: ReasonContext, task: TaskState) -> Reason | None:
    for want in demands(task):
        if want[0] in COUNTED and (holders := standing.holds.hard(want, task.spec.id)) is not None:
            return limit_reason(standing.state, want, holders)
    return None


def _slots(standing: ReasonContext, _: TaskState) -> Reason | None:
    state = standing.state
    limit = state.run.limit if state.run else 0
    agents = sorted({n for n in state.running if state.tasks[n].has_agent} | state.leftovers)
    if len(agents) < limit:
        return None
    full = f"all {limit} slots are taken" if limit != 1 else "the one slot is taken"
    return Reason(
        Why.SLOTS, f"{full}, by {_names(agents)}" if agents else "no slots are allowed now", tuple(agents)
    )


def _overlap(standing: ReasonContext, task: TaskState) -> Reason | None:
    for want in demands(task):
        holders = sorted(standing.holds.soft(want, task.spec.id) or ())
        if holders:
            text = f"would edit {want[1]} together with {_names(holders)}; waiting costs less than redoing it"
            return Reason(Why.OVERLAP, text, tuple(holders))
    return None


_WAITING: tuple[_Rule, ...] = (
    _answer, _paused, _needs, _check, _no_run, _stopping, _not_selected, _all_paused,
    _backoff, _lane, _lease, _clutch, _slots, _overlap,
)  # fmt: skip


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    shown, more = listed[:NAMES_SHOWN], len(listed) - NAMES_SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
