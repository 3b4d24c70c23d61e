"""One lane to main: work is checked and landed one after the other, and the next is checked meanwhile.

Rules:
1. First come, first served: `index.train` keeps the order in which work was finished, and work that went back
   to its agent joins again at the end. So every change gets its turn.
2. One change lands at a time, and what passed its checks lands before anything else is checked on main:
   a change that landed in between makes its checks worthless.
3. While a change is checked or lands, the next is checked on top of it, as if it were on main already. As
   many as `lane_depth` may be on their way like that, besides one that lands. It is one chain: no change
   joins while another is under way that does not belong to it, or whose commit is not made yet.
4. What passed on top of another lands after it. If the other does not land, or cannot go on now, it is built
   again on main; and what goes wrong on top of another is asked again on main itself.
5. A pause of everything stops agents only. Finished work goes on to main: it is paid for, holds leases and
   grows stale. A pause of one task holds that task back here too, and the lane goes on behind it.
6. A change that edits what another task holds alone is neither checked nor landed until that one is done
   (`events.alone`); the lane goes on behind it.
7. No change is checked on top of one that edits how checks run: that one may have made them blind, which is
   only found out on main (`engine.canary`).
8. Whether main is still where the candidate was built is asked when main is moved, by compare-and-swap: the
   answer here could be out of date. A stale candidate comes back as a fact and is checked again.
"""

from collections.abc import Container, Iterator, Sequence

from interlock.events.alone import kept_back
from interlock.events.baselines import is_red, obstacle
from interlock.events.lifecycle import Stage
from interlock.events.main import held
from interlock.events.state import State, TaskState
from interlock.events.task_parts import Candidate
from interlock.model.reason import Reason, Why
from interlock.model.steering import steering
from interlock.model.step import Start
from interlock.model.task import Commit, PhaseKind, TaskId


def moves(state: State, now: float) -> list[Start]:
    """Choose what the lane does next: a landing, a check, both, or nothing."""
    # On a red main every check must be judged against main itself: on top of another change it shows nothing.
    depth = state.run.lane_depth if state.run and not is_red(state) else 1
    running = _running(state)
    if running and depth == 1:
        return []
    kept = kept_back(state).keys() | held(state)
    tested = list(_tested(state, now, kept))
    lands = next((task for task in tested if _may_land(task, [*running, *tested])), None)
    if any(task.phase.kind is PhaseKind.LAND for task in running):
        lands = None
    starts = [_start(lands)] if lands else []
    if not running and not tested:
        return [_start(task) for task in _waiting(state, now, kept)]
    last = _end_of_chain(state.main.commit, [*running, *tested], lands, depth) if depth > 1 else None
    if last and not _steers(last):
        starts += [_follow(task, last) for task in _waiting(state, now, kept) if _may_follow(task)]
    return starts


def is_forsaken(state: State, name: TaskId) -> bool:
    """Return True if it is being checked on top of a change that will not be on main as it was."""
    task = state.tasks[name]
    if not task.change.ahead or task.change.built is None or task.change.built.base == state.main.commit:
        return False
    before = _made(state.tasks[task.change.ahead]) if task.change.ahead in state.index.train else None
    return before is None or before.commit != task.change.built.base


def _running(state: State) -> list[TaskState]:
    names = sorted(state.index.running & state.index.train.keys(), key=state.index.train.__getitem__)
    return [state.tasks[name] for name in names]


def _tested(state: State, now: float, kept: Container[TaskId]) -> Iterator[TaskState]:
    # The candidate is looked at first because that is cheap, and hardly any task of a long train has one.
    return (
        task
        for name in state.index.train
        if (task := state.tasks[name]).change.candidate
        and task.phase.kind is PhaseKind.LAND
        and name not in kept
        and _may_move(state, task, now)
    )


def _waiting(state: State, now: float, kept: Container[TaskId]) -> list[TaskState]:
    """The next one to check, if there is any."""
    found = (
        task
        for name in state.index.train
        if name not in kept
        and _may_move(state, task := state.tasks[name], now)
        and not (task.change.candidate and task.phase.kind is PhaseKind.LAND)
    )
    return [task for task, _ in zip(found, range(1), strict=False)]


def _may_move(state: State, task: TaskState, now: float) -> bool:
    name = task.spec.id
    return (
        task.stage is Stage.WAITING
        and not task.queue.paused
        and task.queue.not_before <= now
        and name not in state.index.reconcile
        and state.is_selected(name)
        and (task.phase.kind is not PhaseKind.CHECK or obstacle(state, task.spec) is None)
    )


def _made(task: TaskState) -> Candidate | None:
    """The commit of a change that is in the lane, passed or being checked."""
    return task.change.candidate if task.phase.kind is PhaseKind.LAND else task.change.built


def _may_land(task: TaskState, others: Sequence[TaskState]) -> bool:
    """Return True if no change that it is built on is under way. If main has moved, the landing finds out."""
    base = task.change.candidate.base if task.change.candidate else Commit("")
    return not any((made := _made(other)) and made.commit == base for other in others)


def _end_of_chain(
    main: Commit, under_way: Sequence[TaskState], lands: TaskState | None, depth: int
) -> TaskState | None:
    """The change to check the next one on top of; None: there must be no next one now."""
    by_base = {made.base: task for task in reversed(under_way) if (made := _made(task))}
    chain: list[TaskState] = []
    while (task := by_base.pop(main, None)) and (made := _made(task)):
        chain.append(task)
        main = made.commit
    landing = sum(task is lands or _is_landing(task) for task in under_way)
    is_whole = len(chain) == len(under_way)
    return chain[-1] if is_whole and len(chain) - landing < depth else None


def _is_landing(task: TaskState) -> bool:
    return task.stage is Stage.RUNNING and task.phase.kind is PhaseKind.LAND


def _may_follow(task: TaskState) -> bool:
    return task.phase.kind is PhaseKind.CHECK and not task.change.on_main_only


def _steers(task: TaskState) -> bool:
    """Rule 7."""
    commands = (*task.spec.done_when, *task.spec.verify)
    return task.change.work is not None and bool(steering(task.change.work.touched, commands))


def _start(task: TaskState) -> Start:
    return Start(task.spec.id, task.attempt, task.phase.name, _why(task))


def _follow(task: TaskState, last: TaskState) -> Start:
    made = _made(last)
    onto, ahead = made.commit if made else Commit(""), last.spec.id
    why = Reason(Why.NEXT_IN_LANE, {"ahead": ahead})
    return Start(task.spec.id, task.attempt, task.phase.name, why, ahead=ahead, onto=onto)


def _why(task: TaskState) -> Reason:
    if task.phase.kind is PhaseKind.LAND:
        is_verified = task.change.candidate is not None and task.change.candidate.evidence.is_verified
        return Reason(Why.MAY_LAND, {"verified": is_verified})
    return Reason(Why.NEXT_IN_LANE)
