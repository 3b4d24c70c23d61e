"""Tasks that were done long ago: packed, so that State, its snapshot and every look at all tasks stay small.

Rules:
1. A task leaves `State.tasks` for `State.finished` when enough others were done after it (`State.kept`) and
   it needs no more work: no attempt of it is left over, and there is nothing to learn from it.
2. The current run keeps ten times as many of its own: the plan of the schedule counts on up to 1,000 of them.
3. No task leaves by a fact that names or changed it: an index of tasks has seen it done before it is gone.
4. A fact about a finished task brings it back first, so the fold treats it like any other.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice

import msgspec

from interlock.events.state import State, TaskState
from interlock.events.state_parts import Finished
from interlock.model.task import Commit, TaskId

OF_RUN = 10
"""The current run keeps this many times `State.kept` of its own done tasks."""
_task = msgspec.msgpack.Decoder(TaskState)


def leave(state: State, staying: Collection[TaskId]) -> set[TaskId]:
    """Pack the tasks that may leave now, but none of `staying`; the names of those that left."""
    left: set[TaskId] = set()
    surplus = len(state.recent) - state.kept
    for name in list(islice(state.recent, surplus)) if surplus > 0 else ():
        task = state.tasks[name]
        is_of_run = state.run is not None and task.since > state.run.started
        if is_of_run and len(state.recent) <= OF_RUN * state.kept:
            break
        if name not in staying and not task.session.leftover and name not in state.to_learn_from:
            _leave(state, task)
            left.add(name)
    return left


def _leave(state: State, task: TaskState) -> None:
    name, landed = task.spec.id, task.change.landed
    forget_needs(state, task)
    state.exclusive.discard(name)
    del state.tasks[name], state.recent[name]
    state.finished[name] = Finished(
        task.accepted,
        landed.commit if landed else Commit(""),
        landed.branch if landed else "",
        _packed(state, task),
    )


def _packed(state: State, task: TaskState) -> bytes:
    data = msgspec.msgpack.encode(task)
    state.sample = state.sample or data
    deflate = zlib.compressobj(zdict=state.sample)
    return deflate.compress(data) + deflate.flush()


def unpacked(state: State, name: TaskId) -> TaskState:
    return _task.decode(zlib.decompressobj(zdict=state.sample).decompress(state.finished[name].packed))


def all_tasks(state: State) -> Iterator[TaskState]:
    """Every task that State knows, those that were done long ago first."""
    return chain((unpacked(state, name) for name in state.finished), state.tasks.values())


def recall(state: State, names: Iterable[TaskId]) -> None:
    """Bring tasks back to `State.tasks`, those of them that are finished."""
    for name in names:
        if name in state.finished:
            task = state.tasks[name] = unpacked(state, name)
            del state.finished[name]
            state.recent[name] = None
            remember_needs(state, task)
            if task.spec.exclusive:
                state.exclusive.add(name)


def recall_all(state: State) -> State:
    """Bring all tasks back, for a reader that looks at every one; they are in their order."""
    if state.finished:
        recall(state, list(state.finished))
        state.tasks = dict(sorted(state.tasks.items(), key=lambda each: each[1].accepted))
    return state


def remember_needs(state: State, task: TaskState) -> None:
    """Count the needs of a task that are not done, and let each know who needs it."""
    task.queue.unmet = 0
    for need in task.spec.needs:
        state.dependents.setdefault(need, []).append(task.spec.id)
        task.queue.unmet += not state.is_done(need)


def forget_needs(state: State, task: TaskState) -> None:
    for need in task.spec.needs:
        state.dependents[need].remove(task.spec.id)
        if not state.dependents[need]:
            del state.dependents[need]
