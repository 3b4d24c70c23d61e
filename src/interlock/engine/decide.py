"""What to do next, from State alone. Returns steps; takes none.

Rules:
1. What nobody is working on any more is recovered first, then what may have landed is looked up on main.
2. The train goes before new work: what is nearly done frees leases and moves the base.
3. An agent starts when it is known how its checks end on main. Until then they are tried there, all at once.
4. When the run is stopping no agent starts, but work that is under way goes through to main.
"""

from collections.abc import Collection

from interlock.engine.identity import described
from interlock.engine.slots import free_slots
from interlock.events.baselines import unseen
from interlock.events.state import State
from interlock.model.step import PROJECT, Archive, CheckMain, GiveUp, Reconcile, Recover, Start, Step
from interlock.model.task import Task, TaskId
from interlock.schedule import Board
from interlock.train import moves


def decide(state: State, board: Board, now: float, busy: Collection[TaskId]) -> list[Step]:
    """The steps to take now. `busy` are the tasks this engine is already acting on."""
    steps = [*_recoveries(state, busy), *_archives(state, busy), *_reconciliations(state, busy)]
    if state.run is not None and not state.run.stop_agents:
        steps += [move for move in moves(state, now) if move.task not in busy]
        if not state.run.stopping:
            steps += _too_late(state, board, now, busy)
            steps += _starts(state, board, now, busy)
    return _one_a_task(steps)


def _one_a_task(steps: list[Step]) -> list[Step]:
    """The first step of each task: what an earlier step finds out may make a later one wrong."""
    first: dict[TaskId, Step] = {}
    for step in steps:
        first.setdefault(step.task, step)
    return list(first.values())


def _recoveries(state: State, busy: Collection[TaskId]) -> list[Step]:
    lost = [state.tasks[name] for name in sorted(state.running) if name not in busy]
    return [
        Recover(
            task.spec.id,
            task.attempt,
            task.phase.name,
            task.epoch,
            f"its holder ({described(task.holder)}) is gone",
        )
        for task in lost
    ]


def _archives(state: State, busy: Collection[TaskId]) -> list[Step]:
    return [Archive(name, state.tasks[name].leftover) for name in sorted(state.leftovers) if name not in busy]


def _reconciliations(state: State, busy: Collection[TaskId]) -> list[Step]:
    return [
        Reconcile(name, candidate.commit)
        for name in sorted(state.reconcile)
        if name not in busy and (candidate := state.tasks[name].candidate)
    ]


def _too_late(state: State, board: Board, now: float, busy: Collection[TaskId]) -> list[Step]:
    return [
        GiveUp(name, state.tasks[name].attempt, f"its lease_timeout is over: {reason.text}")
        for name, reason in board.overdue(now)
        if name not in busy
    ]


def _starts(state: State, board: Board, now: float, busy: Collection[TaskId]) -> list[Step]:
    """Agents that start, and the checks on main that others must wait for."""
    steps: list[Step] = []
    waiting: list[Task] = []
    for choice in board.choose(free_slots(state), now):
        task = state.tasks[choice.task]
        if choice.task in busy:
            continue
        if unseen(state, task.spec):
            waiting.append(task.spec)
            continue
        attempt = (choice.task, task.attempt + 1, task.phase.name)
        steps.append(Start(*attempt, choice.why, choice.agent, choice.beside))
    return steps if PROJECT in busy or not waiting else [*steps, _check_main(state, waiting)]


def _check_main(state: State, waiting: list[Task]) -> CheckMain:
    """One look at main for all tasks that would start now: never more than there are free slots."""
    wanted = {command: command in spec.done_when for spec in waiting for command in unseen(state, spec)}
    return CheckMain(
        tuple(command for command, is_promised in wanted.items() if not is_promised),
        tuple(command for command, is_promised in wanted.items() if is_promised),
        max(spec.check_seconds for spec in waiting),
    )
