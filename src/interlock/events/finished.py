"""Tasks that were done long ago: packed, so that State, its snapshot and every look at all tasks stay small.

Rules:
1. A task leaves `State.tasks` for `State.done.packed` when enough others were done after it (`done.kept`) and
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
from interlock.events.state_parts import DoneTasks, Finished, TaskIndex
from interlock.model.task import Commit, TaskId

OF_RUN = 10
"""The current run keeps this many times `State.done.kept` of its own done tasks."""
_task = msgspec.msgpack.Decoder(TaskState)


def leave(state: State, staying: Collection[TaskId]) -> set[TaskId]:
    """Pack the tasks that may leave now, but none of `staying`; the names of those that left."""
    left: set[TaskId] = set()
    recent, kept = state.done.recent, state.done.kept
    surplus = len(recent) - kept
    for name in list(islice(recent, surplus)) if surplus > 0 else ():
        task = state.tasks[name]
        is_of_run = state.run is not None and task.since > state.run.started
        if is_of_run and len(recent) <= OF_RUN * kept:
            break
        if name not in staying and not task.session.leftover and name not in state.index.to_learn_from:
            _leave(state, task)
            left.add(name)
    return left


def _leave(state: State, task: TaskState) -> None:
    name, landed = task.spec.id, task.change.landed
    forget_needs(state.index, task)
    state.index.exclusive.discard(name)
    del state.tasks[name], state.done.recent[name]
    state.done.packed[name] = Finished(
        task.accepted,
        landed.commit if landed else Commit(""),
        landed.joined.own if landed and landed.joined else Commit(""),
        landed.branch if landed else "",
        _packed(state.done, task),
    )


def _packed(done: DoneTasks, task: TaskState) -> bytes:
    data = msgspec.msgpack.encode(task)
    done.sample = done.sample or data
    deflate = zlib.compressobj(zdict=done.sample)
    return deflate.compress(data) + deflate.flush()


def unpacked(state: State, name: TaskId) -> TaskState:
    data = state.done.packed[name].packed
    return _task.decode(zlib.decompressobj(zdict=state.done.sample).decompress(data))


def all_tasks(state: State) -> Iterator[TaskState]:
    """Every task that State knows, those that were done long ago first."""
    return chain((unpacked(state, name) for name in state.done.packed), state.tasks.values())


def recall(state: State, names: Iterable[TaskId]) -> None:
    """Bring tasks back to `State.tasks`, those of them that are finished."""
    for name in names:
        if name in state.done.packed:
            task = state.tasks[name] = unpacked(state, name)
            del state.done.packed[name]
            state.done.recent[name] = None
            remember_needs(state, task)
            if task.spec.exclusive:
                state.index.exclusive.add(name)


def recall_all(state: State) -> State:
    """Bring all tasks back, for a reader that looks at every one; they are in their order."""
    if state.done.packed:
        recall(state, list(state.done.packed))
        state.tasks = dict(sorted(state.tasks.items(), key=lambda each: each[1].accepted))
    return state


def remember_needs(state: State, task: TaskState) -> None:
    """Count the needs of a task that are not done, and let each know who needs it."""
    task.queue.unmet = 0
    for need in task.spec.needs:
        state.index.dependents.setdefault(need, []).append(task.spec.id)
        task.queue.unmet += not state.is_done(need)


def forget_needs(index: TaskIndex, task: TaskState) -> None:
    for need in task.spec.needs:
        index.dependents[need].remove(task.spec.id)
        if not index.dependents[need]:
            del index.dependents[need]
