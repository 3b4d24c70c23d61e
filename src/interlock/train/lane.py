"""The lane to main: which change lands, which are checked on main, and which are tested early in builds.

Rules:
1. First come, first served: `index.train` keeps the order in which work was finished, and work that went back
   to its agent joins again at the end. So every change gets its turn. With `radar = "order"` a change gives
   way to a later one that conflicts with it and cost more, by going to the end (`train.radar`).
2. One change lands at a time. A change is checked on main when no change before it matters to it: neither
   edits what the other's checks read (`speculation`). What passed lands before a known result is judged.
3. Meanwhile the changes behind it are tested early, in builds: on top of those before them that will probably
   land. At most `lane_depth` checks and builds run at once. A build lands nothing. It makes the results of
   checks known, and the check on main takes a known result for the same files instead of a new run.
4. A build that can no longer be needed is stopped: a change in it has gone back, was paused or redone, or
   main was moved by another hand.
5. A pause of everything stops agents only. Finished work goes on to main: it is paid for, holds leases and
   grows stale. A pause of one task holds that task back here too, and the lane goes on behind it; so
   it does behind a change that waits for review.
6. A change that edits what another task holds alone is neither checked nor landed until that one is done
   (`events.alone`); the lane goes on behind it.
7. Nothing is built on top of a change that edits how checks run: that one may have made them blind, which is
   only found out on main (`engine.canary`).
8. Whether main is still where the candidate was built is asked when main is moved, by compare-and-swap: the
   answer here could be out of date. A stale candidate comes back as a fact and is checked again.
9. A change whose checks use a lease that others hold now waits for it; the lane goes on behind it.
10. On a red main there are no builds: every check must be judged against main itself.
11. Changes that passed as one tree land as one (`joint`), if none of them may land alone right now. With few
    slots, builds are chosen for that (`batches`).
"""

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from interlock.events.alone import kept_back
from interlock.events.baselines import is_red, obstacle
from interlock.events.leases import can_hold
from interlock.events.lifecycle import Stage
from interlock.events.main import held
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build
from interlock.model.globs import matches
from interlock.model.reason import Reason, Why
from interlock.model.steering import steering
from interlock.model.step import Start, StartBuild
from interlock.model.task import PhaseKind, Task, TaskId
from interlock.train.batches import MOST_SLOTS, choose_batches
from interlock.train.joint import complete, joinable, next_joint
from interlock.train.speculation import Choice, Stack, Waiting, chance, choose_builds, may_go_first, needs

WINDOW, FOR_EACH_SLOT = 20, 3
"""The most changes that are looked at, or so many for each slot: one that is farther behind will hardly be
tested as it will land."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The next steps of the lane."""

    starts: tuple[Start | StartBuild, ...] = ()
    stops: tuple[int, ...] = ()
    """Slots of builds that can no longer be needed."""
    halts: tuple[TaskId, ...] = ()
    """Changes whose checks on main can no longer be needed: they may land as one with others."""


def moves(state: State, now: float) -> Moves:
    """Choose what the lane does next: a landing, checks, builds, or nothing."""
    depth = state.run.lane_depth if state.run and not is_red(state) else 1
    queue = _next_changes(state, now, depth)
    lands = _lands(state, queue)
    is_joint = state.run is not None and state.run.joint
    names = {task.spec.id for task in queue} if is_joint else set[TaskId]()
    starts = [_start(lands, complete(state.tasks, lands, names))] if lands else []
    if depth == 1:
        if not lands and not any(task.stage is Stage.RUNNING for task in queue):
            starts += [_start(task) for task in queue[:1]]
        return Moves(tuple(starts), tuple(state.builds.running))
    return _with_builds(state, now, depth, queue, starts)


def _with_builds(
    state: State, now: float, depth: int, queue: Sequence[TaskState], starts: Sequence[Start]
) -> Moves:
    chances = _chances(state)
    waiting = {task.spec.id: _waiting(task, chances(task.category)) for task in queue}
    running = {
        slot: build for slot, build in state.builds.running.items() if counts(state, build, waiting.keys())
    }
    known = _known(state, queue, waiting)
    checking = [task for task in queue if _is_running(task, PhaseKind.CHECK)]
    joined = {name for task in checking for name in task.change.together}
    checked = {Stack(task.spec.id) for task in checking if not task.change.together}
    first = _first(list(waiting.values()))
    judged = [task for task in queue if _may_check(task) and task.spec.id in first - joined]
    is_judging = bool(checked & known.keys() or joined)
    may_join = joinable(state, queue) - joined
    halts: list[TaskId] = []
    if not starts and not is_judging and not any(_is_running(task, PhaseKind.LAND) for task in queue):
        names = _judge_next(state, judged, known, waiting, may_join)
        halts = [name for name in names if state.tasks[name].stage is Stage.RUNNING]
        if names and not halts:  # it takes no time, and no slot
            starts = [_start(state.tasks[names[-1]], names if len(names) > 1 else ())]
    under_way = {_stack(build): build.batch for build in running.values()}
    under_way |= dict.fromkeys(checked - known.keys(), 1)
    choice = _choose(state, list(waiting.values()), known, under_way, may_join, depth)
    slots = iter(slot for slot in range(1, depth + 1) if slot not in state.builds.running)
    chosen: list[Start | StartBuild] = [*starts]
    begun = joined.union(halts, *(start.together for start in starts))
    begun |= {task.spec.id for task in queue if task.phase.kind is PhaseKind.LAND}
    for stack in choice.start:
        if stack.task in begun:
            continue
        if not stack.ahead and stack.task in first:
            chosen += [_start(task) for task in judged if task.spec.id == stack.task]
        elif state.builds.not_before <= now and (slot := next(slots, None)):
            chosen.append(_build(state, stack, slot, choice.sizes.get(stack, 1)))
    stops = {slot for slot in state.builds.running if slot not in running}
    stops |= {slot for slot, build in running.items() if _stack(build) in choice.stop}
    return Moves(tuple(chosen), tuple(sorted(stops)), tuple(halts))


def _judge_next(
    state: State,
    judged: Sequence[TaskState],
    known: Mapping[Stack, bool],
    waiting: Mapping[TaskId, Waiting],
    may_join: Collection[TaskId],
) -> tuple[TaskId, ...]:
    """What is judged on main now, by known results: a green change, several that are one, or a red change."""
    results = {task.spec.id: known.get(Stack(task.spec.id)) for task in judged}
    green = [(name,) for name, passed in results.items() if passed]
    red = [(name,) for name, passed in results.items() if passed is False]
    builds = [build for build in state.builds.ended if counts(state, build, waiting)]
    joint = next_joint(list(waiting.values()), state.tasks, builds, may_join) if not green else ()
    return next(iter((*green, *([joint] if joint else red))), ())


def _choose(
    state: State,
    queue: Sequence[Waiting],
    known: Mapping[Stack, bool],
    running: Mapping[Stack, int],
    may_join: Collection[TaskId],
    depth: int,
) -> Choice:
    """Choose builds: of batches, if the slots are few."""
    if depth > MOST_SLOTS or not may_join:
        return choose_builds(queue, known, running.keys(), depth, len(queue))
    sizes = {_stack(build): build.batch for build in state.builds.ended}
    return choose_batches(
        queue, known, running, {stack: sizes.get(stack, 1) for stack in known}, may_join, (depth, len(queue))
    )


def chances_to_hold(state: State, now: float) -> dict[Stack, float]:
    """Return the chance of each build of now that the changes below it end as it assumes."""
    depth = state.run.lane_depth if state.run else 1
    chances, queue = _chances(state), _next_changes(state, now, depth)
    waiting = {task.spec.id: _waiting(task, chances(task.category)) for task in queue}
    builds = (*state.builds.running.values(), *state.builds.ended)
    stacks = [_stack(build) for build in builds if build.ahead and counts(state, build, waiting)]
    return needs(list(waiting.values()), _known(state, queue, waiting), stacks) if stacks else {}


def _next_changes(state: State, now: float, depth: int) -> list[TaskState]:
    kept = kept_back(state).keys() | held(state)
    return _queue(state, now, kept, max(WINDOW, FOR_EACH_SLOT * depth))


def _known(state: State, queue: Sequence[TaskState], names: Container[TaskId]) -> dict[Stack, bool]:
    """Return the results of builds and checks that hold on main as it is now."""
    known = {_stack(build): bool(build.passed) for build in state.builds.ended if counts(state, build, names)}
    return known | {Stack(task.spec.id): True for task in queue if task.phase.kind is PhaseKind.LAND}


def counts(state: State, build: Build, queue: Container[TaskId]) -> bool:
    """Return True if what a build shows is what the changes in it will do on main as it is now."""
    if build.main != state.main.commit:
        return False
    for name, commit in zip((*build.ahead, build.task), build.works, strict=True):
        work = state.tasks[name].change.work if name in queue else None
        if work is None or work.commit != commit:
            return False
    return not build.beside or not _reads_any(_waiting(state.tasks[build.task]), build.beside)


def results_known(state: State, task: TaskId) -> Build | None:
    """Return the build that shows how a change does on main as it is now."""
    return next(
        (
            build
            for build in state.builds.ended
            if build.task == task and not build.ahead and counts(state, build, {task})
        ),
        None,
    )


def _reads_any(change: Waiting, paths: Sequence[str]) -> bool:
    if change.reads is None:
        return True
    return any(matches(glob, path) for glob in change.reads for path in paths)


def _first(queue: Sequence[Waiting]) -> set[TaskId]:
    """The changes that no change before them matters to."""
    return {each.task for at, each in enumerate(queue) if may_go_first(each, queue[:at])}


def _queue(state: State, now: float, kept: Container[TaskId], window: int) -> list[TaskState]:
    """The next changes of the train that are under way or can go on now, in their order."""
    found = (
        task
        for name in state.index.train
        if (task := state.tasks[name]).stage is Stage.RUNNING
        or (name not in kept and _may_move(state, task, now))
    )
    return [task for task, _ in zip(found, range(window), strict=False)]


def _may_move(state: State, task: TaskState, now: float) -> bool:
    name = task.spec.id
    return (
        task.stage is Stage.WAITING
        and not task.queue.paused
        and (task.in_review is None or task.in_review.look_again)
        and task.queue.not_before <= now
        and name not in state.index.reconcile
        and state.is_selected(name)
        and (task.phase.kind is not PhaseKind.CHECK or (not obstacle(state, task) and can_hold(state, task)))
    )


def _lands(state: State, queue: Sequence[TaskState]) -> TaskState | None:
    """The tested change that lands now; one whose base is not main any more only after the others."""
    if any(_is_running(task, PhaseKind.LAND) for task in queue):
        return None
    tested = [task for task in queue if task.phase.kind is PhaseKind.LAND]
    return min(tested, key=lambda task: not _is_on(state, task), default=None)


def _is_on(state: State, task: TaskState) -> bool:
    return task.change.candidate is not None and task.change.candidate.base == state.main.commit


def _is_running(task: TaskState, kind: PhaseKind) -> bool:
    return task.stage is Stage.RUNNING and task.phase.kind is kind


def _may_check(task: TaskState) -> bool:
    return task.stage is Stage.WAITING and task.phase.kind is PhaseKind.CHECK


def _waiting(task: TaskState, passes: float = 1.0) -> Waiting:
    work = task.change.work
    touched = work.touched if work else ()
    commands = (*task.spec.done_when, *task.spec.verify)
    reads = _reads(task.spec, touched)
    return Waiting(task.spec.id, passes, frozenset(touched), reads, bool(steering(touched, commands)))


def _reads(spec: Task, touched: Sequence[str]) -> tuple[str, ...] | None:
    """Return the globs of what those checks see that the change can affect; None: everything."""
    reads: dict[str, None] = {}
    for command in (*spec.done_when, *spec.verify):
        inputs = spec.inputs_of(command)
        if not inputs:
            return None
        if any(matches(glob, path) for glob in inputs for path in touched):
            reads |= dict.fromkeys(inputs)
    return tuple(reads)


def _chances(state: State) -> Callable[[str], float]:
    """Return the chance of a change of a category to pass its checks, by earlier results."""
    tallies = state.learned.tallies.kinds.values()
    all_green, all_red = sum(each.green for each in tallies), sum(each.red for each in tallies)

    @cache
    def of(category: str) -> float:
        own = [each for each in tallies if each.category == category]
        return chance(sum(each.green for each in own), sum(each.red for each in own), all_green, all_red)

    return of


def _stack(build: Build) -> Stack:
    return Stack(build.task, build.ahead)


def _start(task: TaskState, together: tuple[TaskId, ...] = ()) -> Start:
    is_joint_check = together and task.phase.kind is PhaseKind.CHECK
    joint = Reason(Why.TOGETHER, {"tasks": together, "task": task.spec.id})
    why = joint if is_joint_check else _why(task)
    return Start(task.spec.id, task.attempt, task.phase.name, why, together=together)


def _build(state: State, stack: Stack, slot: int, batch: int) -> StartBuild:
    works = (state.tasks[name].change.work for name in (*stack.ahead, stack.task))
    commits = tuple(work.commit for work in works if work)
    why = Reason(Why.TESTED_EARLY, {"tasks": stack.ahead})
    return StartBuild(slot, stack.task, stack.ahead, commits, state.main.commit, why, batch=batch)


def _why(task: TaskState) -> Reason:
    if task.phase.kind is PhaseKind.LAND:
        is_verified = task.change.candidate is not None and task.change.candidate.evidence.is_verified
        return Reason(Why.MAY_LAND, {"verified": is_verified})
    return Reason(Why.NEXT_IN_LANE)
