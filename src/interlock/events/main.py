"""Main as the log has it, and the finished changes that must not land on it now.

Rules:
1. A change whose task needs one that is not done does not land: what it was built on is not on main. That
   happens when a landing is undone or lost.
2. While a change that undoes a task is on its way, the tasks that need that task neither start nor land.
"""

from interlock.events import facts as f
from interlock.events.baselines import held_back
from interlock.events.known_checks import remember
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Main, TaskIndex
from interlock.model.outcome import Baseline
from interlock.model.task import TaskId


def main_seen(state: State, fact: f.MainSeen, _: Recorded) -> set[TaskId]:
    """Note where main is."""
    freed = held_back(state) if fact.tree != state.main.tree else set()
    state.main = Main(fact.branch, fact.commit, fact.tree)
    return freed


def base_checked(state: State, fact: f.BaseChecked, _: Recorded) -> set[TaskId]:
    """Note how a check ends on main."""
    if fact.result is None:
        return set()
    run = state.run.run if state.run else ""
    remember(state, [fact.result])
    state.checks.baselines[fact.command] = Baseline(fact.tree, fact.environment, run, fact.result)
    return {
        name
        for name, task in state.tasks.items()
        if fact.command in (*task.spec.verify, *task.spec.done_when)
    }


def note_undo(index: TaskIndex, task: TaskState) -> set[TaskId]:
    """Note which tasks are about to be undone; return those that need one of them."""
    undo, name = task.change.undo, task.spec.id
    needed: set[TaskId] = set()
    for each in undo.undoes if undo else ():
        if not task.is_over:
            index.leaving[each.task] = name
        elif index.leaving.get(each.task) == name:
            del index.leaving[each.task]
        needed.update(index.dependents.get(each.task, ()))
    return needed


def leaving_need(state: State, task: TaskState) -> TaskId | None:
    """Return a task that it needs and that is about to be undone (rule 2)."""
    if not state.index.leaving:
        return None
    return next((need for need in task.spec.needs if need in state.index.leaving), None)


def lacks_need(state: State, task: TaskState) -> bool:
    """Tell if something that it was built on is not on main, or is about to leave (rules 1 and 2)."""
    return task.queue.unmet > 0 or leaving_need(state, task) is not None


def held(state: State) -> set[TaskId]:
    """List the finished changes that must not land now."""
    return {name for name in state.index.train if lacks_need(state, state.tasks[name])}
