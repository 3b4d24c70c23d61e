"""From facts to State, one at a time.

Rules:
1. A phase fact counts only if it names the epoch and the attempt the task is in.
2. A move counts only if the life-cycle table has it.
3. `apply` returns the tasks that it changed; an index of tasks updates only these. A task of them that is
   not in `State.tasks` was done long ago (`finished`).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from interlock.events import facts as f
from interlock.events.affinity import warm_up
from interlock.events.baselines import forget_old
from interlock.events.builds import build_ended, build_started, builds_after_landing, forget_builds, set_apart
from interlock.events.clutch import witness
from interlock.events.counting import count
from interlock.events.effects import EFFECTS, close_question, look_again, revert_prepared
from interlock.events.evidence import canary_tried, evidence_of, forget_canaries
from interlock.events.finished import forget_needs, leave, recall, remember_needs
from interlock.events.known_checks import note_times, remember
from interlock.events.learning import HANDLERS, credit
from interlock.events.leases import take
from interlock.events.lifecycle import Destination, Stage, next_move
from interlock.events.main import MAIN_HANDLERS, landed_on_main, note_undo
from interlock.events.money import budget_raised, note_refusal, run_began
from interlock.events.money import settle as pay
from interlock.events.pairing import observe
from interlock.events.radar import REPORTS, settle
from interlock.events.record import Recorded, Unreadable
from interlock.events.state import State, TaskState
from interlock.events.state_parts import AcceptedGraph, RunState, TaskIndex
from interlock.events.talk import TALK_HANDLERS
from interlock.events.task_parts import Queue
from interlock.events.versions import Unknown, newest
from interlock.model.kinds import KINDS, Wire
from interlock.model.numbers import MOST, bounded
from interlock.model.reason import said
from interlock.model.task import COMPLEXITIES, PIPELINE, TASK_ID, Agent, OriginKind, PhaseKind, Task, TaskId

_WIRES = ("", *Wire)


def fold(rows: Iterable[Recorded], state: State | None = None) -> State:
    state = state or State()
    for row in rows:
        apply(state, row)
    return state


def apply(state: State, row: Recorded) -> set[TaskId]:
    """Fold one row; return the tasks that it changed, moved to `State.done.packed` or brought back."""
    if not 0 <= row.time <= MOST:
        row = replace(row, time=float(bounded(row.time)))
    state.seq, state.time, state.hash = row.seq, row.time, row.hash
    fact = row.fact
    name = _subject(fact)
    recalled = {name} & state.done.packed.keys()
    recall(state, recalled)
    handler = _HANDLERS.get(type(fact))
    changed = handler(state, fact, row) if handler else _apply_to_task(state, fact, row)
    count(state, row, changed)
    witness(state, fact, changed)
    settle(state, fact, changed)
    return changed | recalled | leave(state, {name, *changed})


# Any: facts are about tasks in many ways, or about none.
def _subject(fact: Any) -> TaskId:
    named = getattr(fact, "task", TaskId(""))
    return named.id if isinstance(named, Task) else named or TaskId("")


def _plan_accepted(state: State, fact: f.PlanAccepted, _: Recorded) -> set[TaskId]:
    state.graph = AcceptedGraph(fact.digest, fact.source, fact.leases)
    return set()


def _run_started(state: State, fact: f.RunStarted, row: Recorded) -> set[TaskId]:
    selection = None if fact.selection is None else frozenset(fact.selection)
    state.run = RunState(
        fact.run, fact.holder, fact.generation, fact.max_parallel, selection, row.time, sandbox=fact.sandbox
    )
    state.run.slots, state.run.lane_depth = fact.slots or {}, fact.lane_depth
    state.run.environment, state.run.radar = fact.environment, fact.radar
    state.run.on_red_main, state.run.joint = fact.on_red_main, fact.joint
    run_began(state, fact)
    forget_old(state)
    forget_builds(state)
    for name in state.index.train:
        look_again(state.tasks[name])
    return set(state.tasks)


def _run_ended(state: State, fact: f.RunEnded, row: Recorded) -> set[TaskId]:
    if state.run and state.run.run == fact.run:
        state.run.ended, state.run.ended_why = row.time, fact.why
    return set()


def _stop_requested(state: State, fact: f.StopRequested, _: Recorded) -> set[TaskId]:
    if state.run and state.run.run == fact.run:
        state.run.stopping = True
        state.run.stop_agents = state.run.stop_agents or fact.agents
    return set()


def _paused(state: State, fact: f.Paused | f.Unpaused, _: Recorded) -> set[TaskId]:
    on = isinstance(fact, f.Paused)
    if fact.task is None:
        state.limits.paused = on
        state.limits.pause_why = fact.why if isinstance(fact, f.Paused) else ""
        return set()
    if fact.task not in state.tasks:
        return set()
    task = state.tasks[fact.task]
    task.queue.paused, task.queue.held_back = on, None
    if isinstance(fact, f.Paused) and fact.losses:
        task.queue.held_back = fact.reason or said(fact.why)
    if not on:
        task.trouble.losses = 0
    return {fact.task}


def _workspace_archived(state: State, fact: f.WorkspaceArchived, row: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None:
        return set()
    _spend(state, task, fact, row.time)
    if fact.attempt < task.session.leftover:
        return set()
    task.session.leftover = 0
    _index(state.index, task)
    return {fact.task}


def _bumped(state: State, fact: f.Bumped, _: Recorded) -> set[TaskId]:
    train = state.index.train
    if fact.task in train:
        state.index.train = {fact.task: train[fact.task]} | train
        change = state.tasks[fact.task].change
        change.work = change.work and replace(change.work, bumped=True)
    return set()


def _unreadable(state: State, fact: Unreadable, row: Recorded) -> set[TaskId]:
    """Note a row that cannot be read, and pass over it: a running loop has agents to bring to an end."""
    if not fact.is_needed:
        state.passed_over += 1
    elif state.unknown is None:
        state.unknown = Unknown(row.seq, fact.kind, fact.needs, fact.what)
    else:
        state.unknown = replace(state.unknown, needs=newest(state.unknown.needs, fact.needs))
    return set()


def _nothing(_state: State, _fact: f.Fact, _: Recorded) -> set[TaskId]:
    return set()


def _task_accepted(state: State, fact: f.TaskAccepted, row: Recorded) -> set[TaskId]:
    task = fact.task.id
    if not re.fullmatch(TASK_ID, task):
        return set()  # ids become names of folders and refs
    spec = _sound(fact.task)
    known, index = state.tasks.get(task), state.index
    origin = fact.origin if fact.origin.name else replace(fact.origin, name=state.graph.source)
    if known and known.stage is not Stage.REMOVED:
        if origin.kind is not OriginKind.GRAPH:
            return set()  # two added it at the same moment, or added what a file has: the first one counts
        if known.origin != origin and known.spec == spec:
            known.origin, known.parent = origin, fact.parent
            return {task}  # another file has it now, and the work goes on
    if known is None:
        known = TaskState(spec, accepted=row.seq, since=row.time, queue=Queue(ready_since=row.time))
        state.tasks[task] = known
        index.counts[Stage.WAITING] = index.counts.get(Stage.WAITING, 0) + 1
    else:
        forget_needs(index, known)
        known.spec, known.session.cut_off = spec, None
        look_again(known)
        close_question(known)  # the agent that asked it had another task
        place = _next_place(known, fact) or Destination(known.stage, known.phase_index)
        if place.begins:
            known.trouble.failures, known.trouble.losses, known.trouble.waits = [], 0, 0
        _move(state, known, place, row.time)
    known.origin, known.parent = origin, fact.parent
    remember_needs(state, known)
    (index.exclusive.add if fact.task.exclusive else index.exclusive.discard)(task)
    return {task}


def _sound(spec: Task) -> Task:
    """Return the task as this version can carry it out, whichever version wrote it."""
    agents = tuple(map(_sound_agent, spec.agents))
    agent = _sound_agent(spec.agent)
    if agent is spec.agent and agents == spec.agents and spec.pipeline:
        return spec
    return replace(spec, agent=agent, agents=agents, pipeline=spec.pipeline or PIPELINE)


def _sound_agent(agent: Agent) -> Agent:
    """A program of a kind that is not known is taken for a command of that name: it will not be found."""
    kind = KINDS.get(agent.use)
    if kind is None or (not agent.run and "run" in kind.needs):
        agent = replace(agent, use="command", run=(agent.use or "unknown",), login=False)
    if agent.wire in _WIRES and agent.complexity in COMPLEXITIES and agent.name:
        return agent
    complexity = agent.complexity if agent.complexity in COMPLEXITIES else COMPLEXITIES[-1]
    wire = agent.wire if agent.wire in _WIRES else ""
    return replace(agent, name=agent.name or "unnamed", wire=wire, complexity=complexity)


def _candidate_dropped(state: State, fact: f.CandidateDropped, _: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None or task.change.candidate is None or task.change.candidate.commit != fact.commit:
        return set()
    if not task.must_reconcile:
        return set()  # it is on its way to main, and the look for it there came too early
    task.change.candidate = None
    _index(state.index, task)
    return {fact.task}


def _revert_prepared(state: State, fact: f.RevertPrepared, row: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None or not task.spec.reverts or task.change.work or task.stage is not Stage.WAITING:
        return set()
    revert_prepared(task, fact, row)
    _index(state.index, task)
    return {fact.task} | note_undo(state.index, task)


# Any: one of the many facts that are about a task
def _apply_to_task(state: State, fact: Any, row: Recorded) -> set[TaskId]:
    task = state.tasks.get(fact.task)
    if task is None or not _counts(task, fact):
        return set()
    place = _next_place(task, fact)
    if place is None:
        return _started_too_late(state, task, fact)
    if task.stage is Stage.RUNNING and isinstance(fact, _TAKEN_AWAY) and task.phase.kind is PhaseKind.AGENT:
        task.session.leftover = task.attempt
    freed = set[TaskId]()
    if isinstance(fact, f.Landed):
        freed = landed_on_main(state, task)
        builds_after_landing(state, task, fact)
    if isinstance(fact, f.CandidateStale) and task.phase.kind is PhaseKind.CHECK and task.change.together:
        set_apart(state, task)
    EFFECTS[type(fact)](task, fact, row)
    _spend(state, task, fact, row.time)
    note_refusal(state, fact)
    if isinstance(fact, f.PhaseStarted) and fact.leased:
        freed |= take(state, task)
    if isinstance(fact, f.Landed | f.LandingSeen) and task.change.landed:
        branch = task.change.landed.branch or state.main.branch
        task.change.landed = replace(task.change.landed, branch=branch)
        forget_canaries(state.checks, task.change.landed)
    if isinstance(fact, f.CandidatePassed) and task.change.candidate:
        task.change.candidate = replace(task.change.candidate, evidence=evidence_of(state, task, fact))
    if isinstance(fact, f.CandidatePassed | f.PhaseFailed):
        note_times(state.checks.seconds, fact.checks)
        remember(state, fact.checks)
    credit(state, task, fact)
    warm_up(state.learned.warm, task, fact, row)
    observe(state, task, fact)
    return {task.spec.id} | freed | _move(state, task, place, row.time)


# Any: one of the facts that end an attempt, or another about a task
def _spend(state: State, task: TaskState, fact: Any, time: float) -> None:
    """Count what an attempt has used, once: after a crash a second fact may end the same attempt."""
    usage = getattr(fact, "usage", None)
    if usage is not None and fact.attempt > task.spent.usage_of:
        task.spent.usage += usage
        task.spent.usage_of = fact.attempt
        state.used += usage
        pay(state, usage, time)


def _next_place(task: TaskState, fact: f.Fact) -> Destination | None:
    return next_move(task.stage, task.spec.pipeline, task.phase_index, type(fact))


def _started_too_late(state: State, task: TaskState, fact: f.Fact) -> set[TaskId]:
    """Note a start of a task that a person gave up between the decision and the start: its agent is unwanted,
    and holds its leases until it is ended."""
    if not isinstance(fact, f.PhaseStarted) or not task.is_over or task.phase.kind is not PhaseKind.AGENT:
        return set()
    task.epoch, task.attempt, task.session.leftover = fact.epoch, fact.attempt, fact.attempt
    task.session.exited, task.session.leased = False, fact.leased
    _index(state.index, task)
    return {task.spec.id} | take(state, task)


def _counts(task: TaskState, fact: f.Fact) -> bool:
    """Return True if the fact is about what the task is doing now."""
    if isinstance(fact, f.Landed):
        made = task.change.candidate
        return made is not None and made.commit == (fact.proposed or fact.commit)
    if isinstance(fact, f.LandingLost | f.TaskUndone | f.TaskReopened):
        return task.change.landed is not None and task.change.landed.commit == fact.commit
    if isinstance(fact, f.QuestionAnswered):
        return task.asks is not None and task.asks.attempt == fact.attempt
    if isinstance(fact, f.PullRequestSeen | f.ReviewReceived):
        return task.proposed is not None and task.proposed.number == fact.number
    if isinstance(fact, f.ReviewCommented | f.ReviewApproved | f.ReviewRejected):
        return task.change.review is not None and task.change.review.is_of(fact.digest, fact.work)
    if isinstance(fact, f.PhaseStarted):
        return fact.epoch > task.epoch and fact.phase == task.phase.name
    if isinstance(fact, f.PhaseFact):
        return fact.epoch == task.epoch and fact.attempt == task.attempt and fact.phase == task.phase.name
    return True


def _move(state: State, task: TaskState, place: Destination, time: float) -> set[TaskId]:
    """Put a task into a stage and a phase, and keep the indexes; return the dependents that this frees."""
    before, stage = task.stage, place.stage
    task.stage, task.phase_index = stage, place.phase_index
    if place.begins:
        task.since = task.queue.ready_since = time
    if stage is not Stage.RUNNING:
        task.change.built = None
    if stage is not before:
        task.since = time
    counts = state.index.counts
    counts[before] = counts.get(before, 0) - 1
    counts[stage] = counts.get(stage, 0) + 1
    _index(state.index, task)
    undoing = note_undo(state.index, task)
    if (stage is Stage.DONE) == (before is Stage.DONE):
        return undoing
    if stage is Stage.DONE:
        state.done.recent[task.spec.id] = None
    else:
        state.done.recent.pop(task.spec.id, None)
    dependents = set(state.index.dependents.get(task.spec.id, ()))
    if before is Stage.DONE:
        _hold(state, dependents)
    else:
        _free(state, dependents, time)
    return dependents | undoing


def _hold(state: State, dependents: Iterable[TaskId]) -> None:
    for dependent in dependents:
        state.tasks[dependent].queue.unmet += 1


def _free(state: State, dependents: Iterable[TaskId], time: float) -> None:
    for dependent in dependents:
        state.tasks[dependent].queue.unmet -= 1
        if state.tasks[dependent].queue.unmet == 0:
            state.tasks[dependent].queue.ready_since = time


def _index(index: TaskIndex, task: TaskState) -> None:
    key = task.spec.id
    (index.running.add if task.stage is Stage.RUNNING else index.running.discard)(key)
    if task.is_over and not task.session.leftover:
        task.session.leased = ()
    (index.leased.add if task.session.leased else index.leased.discard)(key)
    (index.leftovers.add if task.session.leftover else index.leftovers.discard)(key)
    (index.reconcile.add if task.must_reconcile else index.reconcile.discard)(key)
    (index.undos.add if task.change.undo and task.stage is Stage.DONE else index.undos.discard)(key)
    is_on_its_way = task.phase.kind in (PhaseKind.CHECK, PhaseKind.LAND) and not task.proposed
    if not task.is_over and is_on_its_way and task.change.work:
        index.train[key] = task.change.work.seq
    else:
        index.train.pop(key, None)


_TAKEN_AWAY = (f.TaskReset, f.TaskCancelled, f.TaskRemoved)
"""Facts by which a person takes a task from its agent. WorkspaceArchived follows when that has ended."""

# Any: each handler takes the one kind of fact it is listed under.
_HANDLERS: dict[type[f.Fact], Callable[[State, Any, Recorded], set[TaskId]]] = {
    f.BudgetRaised: budget_raised,
    f.PlanAccepted: _plan_accepted,
    f.RunStarted: _run_started,
    f.RunEnded: _run_ended,
    f.SetupBuilt: _nothing,
    f.CheckFlaked: _nothing,
    f.StateMoved: _nothing,
    Unreadable: _unreadable,
    f.StopRequested: _stop_requested,
    f.Paused: _paused,
    f.Unpaused: _paused,
    f.Bumped: _bumped,
    f.BuildStarted: build_started,
    f.BuildEnded: build_ended,
    f.CanaryTried: canary_tried,
    f.WorkspaceArchived: _workspace_archived,
    f.TaskAccepted: _task_accepted,
    f.CandidateDropped: _candidate_dropped,
    f.RevertPrepared: _revert_prepared,
    **HANDLERS,
    **REPORTS,
    **MAIN_HANDLERS,
    **TALK_HANDLERS,
}
