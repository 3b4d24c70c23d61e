"""Returns every step that follows from State, the time and the acts under way. It takes none of them.

Rules:
1. What is under way and no longer wanted stops first. What people said, and what was decided about a scope,
   reaches the agents at work.
2. A phase whose holder is gone is recovered, and a change that may have landed is looked up on main, before
   anything else happens to its task.
3. The train goes before new work: what is nearly done frees leases and moves the base.
4. An agent starts when it is known how its checks end on main. Until then they are tried there, all at once.
   So they are on a main that another hand has moved, before anything lands there (`train.red_main`).
5. One scope is widened at a time, and no agent starts meanwhile: what is granted is held against the others.
6. When the run is stopping no agent starts, but work that is under way goes through to main. A fact that
   only a newer Interlock understands stops the run like that.
7. A program starts with the values of all leases that it uses, or not now. The lane gets them first.
8. With budgets, no agent starts while it is not known what one without a controller has used.
9. The run ends when nothing is under way and nothing becomes possible without a person. A pause is a person's
   "wait", and no end.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from interlock.engine.slots import free_slots
from interlock.events.baselines import unseen
from interlock.events.leases import Values, wanted_by_checks
from interlock.events.lifecycle import Stage
from interlock.events.money import at_work
from interlock.events.state import State, TaskState
from interlock.model.claim import Held
from interlock.model.leases import Leased
from interlock.model.reason import Reason, Why
from interlock.model.step import (
    PROJECT,
    Answer,
    Archive,
    CheckMain,
    End,
    FindCulprit,
    GiveUp,
    Reconcile,
    Recover,
    Refuse,
    Start,
    StartBuild,
    Step,
    Stop,
    TakeCharge,
    Tell,
    UnderWay,
    Watch,
    Widen,
    WindDown,
    build_slot,
)
from interlock.model.task import PhaseKind, Task, TaskId
from interlock.schedule import Board, Choice
from interlock.train import Moves, moves, radar, retry
from interlock.train.red_main import main_steps

Acts = Mapping[TaskId, UnderWay]
Leaseholder = Start | StartBuild | CheckMain | FindCulprit
"""Steps whose programs may use leases."""


def decide(state: State, board: Board, now: float, acts: Acts) -> list[Step]:
    """Return the steps to take now. `acts` is what this process has under way."""
    lane = _lane(state, now)
    steps: list[Step] = [*_stops(state, acts, lane), *_tells(state, acts), *_answers(state, acts)]
    first: list[Step] = [*_wind_down(state), *_widen(state, board, acts)]
    steps += [*first, *_one_a_task(_next_steps(state, board, now, acts, lane, may_start=not first))]
    if not steps and not acts and _is_at_rest(state, board, now):
        return [End()]
    return steps


def stop_everything(acts: Acts) -> list[Stop]:
    """Return the stops for a person who asked twice: agents end even if the log cannot be read."""
    return [Stop(name) for name, act in acts.items() if act.can_stop]


def succession(row: Held, is_dead: bool) -> TakeCharge | Refuse | Watch:
    """Return the way to become the controller after the one that has this claim."""
    if is_dead:
        return TakeCharge(row.claim.epoch)
    if row.clock_was_set:  # the lease tells nothing, but a controller that lives renews it soon
        return Watch(row.lease_seconds / 2)
    return Refuse() if row.expires_in_seconds > 0 else TakeCharge()


def is_held_by_pause(state: State) -> bool:
    """Tell whether a task that could go on waits only because a person paused it."""
    return any(
        (state.limits.paused or task.queue.paused) and _could_go_on(task)
        for name, task in state.tasks.items()
        if state.is_selected(name)
    )


def _could_go_on(task: TaskState) -> bool:
    return task.stage is Stage.WAITING and task.queue.unmet == 0 and not task.waits_for_person


def _is_at_rest(state: State, board: Board, now: float) -> bool:
    if state.run is None or state.run.stopping:
        return True
    stuck = {name for name, task in state.tasks.items() if task.waits_for_person}
    return not is_held_by_pause(state) and board.next_wakeup(now, besides=stuck) is None


def _lane(state: State, now: float) -> Moves:
    goes_on = state.run is not None and not state.run.stop_agents
    return moves(state, now) if goes_on else Moves()


def _stops(state: State, acts: Acts, lane: Moves) -> Iterator[Stop]:
    """Steps that stop acts a person took away, worthless builds, and everything if the run has to stop."""
    stop_all = state.run is not None and state.run.stop_agents
    worthless = set(map(build_slot, lane.stops))
    for name, act in acts.items():
        is_unwanted = name in worthless if act.is_build else _is_unwanted(state, name, act)
        is_unwanted = is_unwanted or name in lane.halts
        if act.can_stop and (stop_all or is_unwanted):
            yield Stop(name)


def _is_unwanted(state: State, name: TaskId, act: UnderWay) -> bool:
    if name == PROJECT:  # what it finds out is of use only to starts
        return state.run is not None and state.run.stopping and not main_steps(state)
    task = state.tasks.get(name)
    if task is None:  # done long ago
        return True
    # Until its PhaseStarted is folded the task looks older than the act.
    return (
        act.epoch > 0
        and task.epoch >= act.epoch
        and (task.stage is not Stage.RUNNING or task.epoch > act.epoch)
    )


def _with_agents(state: State, acts: Acts) -> Iterator[tuple[TaskState, UnderWay]]:
    return ((task, act) for name, act in acts.items() if act.has_agent and (task := state.tasks.get(name)))


def _tells(state: State, acts: Acts) -> Iterator[Tell]:
    """Steps that tell agents what people said after they had started, and of overlaps."""
    for task, act in _with_agents(state, acts):
        for message in task.talk.said:
            if message.seq not in act.told:
                yield Tell(task.spec.id, act.attempt, message.seq, message.text)
        for overlap in radar.overlaps_to_tell(state, task.spec.id):
            if overlap.seq not in act.told:
                text = radar.message(state, overlap, task.spec.id)
                yield Tell(task.spec.id, act.attempt, overlap.seq, text)


def _answers(state: State, acts: Acts) -> Iterator[Answer]:
    """Steps that give agents the answers they asked for."""
    for task, act in _with_agents(state, acts):
        for asked in task.talk.permissions:
            if asked.attempt == act.attempt and asked.allow is not None:
                yield Answer(task.spec.id, act.attempt, asked.call, asked.allow)


def _widen(state: State, board: Board, acts: Acts) -> list[Widen]:
    """The answer to the first agent that wants to edit more than was expected (rule 5)."""
    requests = (
        board.answer(task.spec.id, asked)
        for task, act in _with_agents(state, acts)
        for asked in task.talk.requests
        if asked.attempt == act.attempt and not asked.is_answered
    )
    return [answer for answer, _ in zip(requests, range(1), strict=False)]


def _wind_down(state: State) -> list[WindDown]:
    is_going_on = state.run is not None and not state.run.stopping
    return [WindDown()] if state.unknown and is_going_on else []


def _next_steps(
    state: State, board: Board, now: float, acts: Acts, lane: Moves, may_start: bool
) -> list[Step]:
    """Steps that begin on tasks with no step under way."""
    steps = [*_recoveries(state, acts), *_archives(state, acts), *_reconciliations(state, acts)]
    if state.run is not None and not state.run.stop_agents:
        values = _values(state, acts)
        starts: list[Leaseholder] = [move for move in lane.starts if move.task not in acts]
        starts += main_steps(state) if may_start and PROJECT not in acts else []
        steps += with_values(state, values, starts)
        if not state.run.stopping:
            steps += _too_late(state, board, now, acts)
            chosen = board.choose(free_slots(state), now) if may_start else []
            chosen = [choice for choice in chosen if choice.task not in acts]
            steps += [*_given_up(state, chosen), *with_values(state, values, _starts(state, chosen, acts))]
    return steps


def _values(state: State, acts: Acts) -> Values:
    """The values that no program has. One that is being ended may still run, and State knows it no more."""
    in_use = ((name, act) for name, act in acts.items() if act.leased)
    return Values(state, [(name, each) for name, act in in_use for each in act.leased])


def with_values(state: State, values: Values, starts: Iterable[Leaseholder]) -> Iterator[Leaseholder]:
    """Yield the steps whose programs can have the values that they use, with these."""
    for step in starts:
        given = _given(state, values, step)
        if given is not None:
            yield replace(step, leased=given) if given else step


def _given(state: State, values: Values, step: Leaseholder) -> tuple[Leased, ...] | None:
    match step:
        case CheckMain():
            return _lent(state, values, (*step.commands, *step.promised))
        case FindCulprit():
            return _lent(state, values, (step.command,))
        case StartBuild():
            return values.give(state.tasks[step.change])
        case Start():
            task = state.tasks[step.task]
            return () if task.phase.kind is PhaseKind.LAND else values.give(task)


def _lent(state: State, values: Values, commands: tuple[str, ...]) -> tuple[Leased, ...] | None:
    return values.lend(wanted_by_checks(state.tasks.values(), commands)) if state.graph.leases else ()


def _one_a_task(steps: list[Step]) -> list[Step]:
    """The first step of each task: what an earlier step finds out may make a later one wrong."""
    first: dict[TaskId, Step] = {}
    for step in steps:
        first.setdefault(step.task, step)
    return list(first.values())


def _recoveries(state: State, busy: Collection[TaskId]) -> list[Step]:
    lost = [state.tasks[name] for name in sorted(state.index.running) if name not in busy]
    return [
        Recover(
            task.spec.id,
            task.attempt,
            task.phase.name,
            task.epoch,
            Reason(Why.HOLDER_GONE, {"holder": task.session.holder}),
        )
        for task in lost
    ]


def _archives(state: State, busy: Collection[TaskId]) -> list[Step]:
    return [
        Archive(name, state.tasks[name].session.leftover)
        for name in sorted(state.index.leftovers)
        if name not in busy
    ]


def _reconciliations(state: State, busy: Collection[TaskId]) -> list[Step]:
    running = (state.tasks[name] for name in state.index.running)
    lead = (task.change.candidate for task in running if task.phase.kind is PhaseKind.LAND)
    landing = {made.commit for made in lead if made}
    return [
        Reconcile(name, candidate.commit)
        for name in sorted(state.index.reconcile)
        if name not in busy and (candidate := state.tasks[name].change.candidate)
        if candidate.commit not in landing  # of several tasks: it may be on main any moment
    ]


def _too_late(state: State, board: Board, now: float, busy: Collection[TaskId]) -> list[Step]:
    return [
        GiveUp(name, state.tasks[name].attempt, Reason(Why.LEASE_TIMEOUT, {"cause": reason}))
        for name, reason in board.overdue(now)
        if name not in busy
    ]


def _is_unsettled(state: State, acts: Acts) -> bool:
    """Tell if an agent may have used anything that only its recovery will tell (rule 8)."""
    here = {name for name, act in acts.items() if act.has_agent}
    return bool(state.money.limits) and any(task.spec.id not in here for task in at_work(state))


def _given_up(state: State, chosen: Iterable[Choice]) -> list[GiveUp]:
    """The ends of tasks that would start once too often (rule 17 of `retry`)."""
    ends = ((state.tasks[choice.task], retry.used_up(state.tasks[choice.task])) for choice in chosen)
    return [GiveUp(task.spec.id, task.attempt, why) for task, why in ends if why]


def _starts(state: State, chosen: Iterable[Choice], busy: Acts) -> "list[Leaseholder]":
    """Agents that start, and the checks on main that others must wait for."""
    if _is_unsettled(state, busy):
        return []
    steps: list[Leaseholder] = []
    waiting: list[Task] = []
    for choice in chosen:
        task = state.tasks[choice.task]
        if unseen(state, task.spec):
            waiting.append(task.spec)
            continue
        attempt = (choice.task, task.attempt + 1, task.phase.name)
        agent = (choice.agent, choice.beside, choice.agent_why)
        steps.append(Start(*attempt, choice.why, *agent, reserved=choice.reserved))
    return steps if PROJECT in busy or not waiting else [*steps, _check_main(state, waiting)]


def _check_main(state: State, waiting: list[Task]) -> CheckMain:
    """One look at main for all tasks that would start now: never more than there are free slots."""
    wanted = {command: command in spec.done_when for spec in waiting for command in unseen(state, spec)}
    return CheckMain(
        tuple(command for command, is_promised in wanted.items() if not is_promised),
        tuple(command for command, is_promised in wanted.items() if is_promised),
        max(spec.check_seconds for spec in waiting),
    )
