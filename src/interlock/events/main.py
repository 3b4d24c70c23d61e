"""Main as the log has it, and the finished changes that must not land on it now.

Rules:
1. A change whose task needs one that is not done does not land: what it was built on is not on main. That
   happens when a landing is undone or lost.
2. While a change that undoes a task is on its way, the tasks that need that task neither start nor land.
3. Where another hand has moved main, nothing lands until the checks that passed before have run on it.
4. Main is broken if one of them fails there. Then only a change on whose tree all of those pass lands (a
   fix), and one that undoes commits. It stays broken until such a tree is on main. `on_red_main: judge` turns
   rules 3 and 4 off.
5. A check that failed before as well says nothing about the move: changes are judged by what they add to it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from interlock.events import facts as f
from interlock.events.baselines import advance, held_back
from interlock.events.known_checks import remember
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Broken, Culprit, Main, TaskIndex
from interlock.events.task_parts import Candidate
from interlock.model.outcome import Baseline
from interlock.model.reason import Why
from interlock.model.task import PhaseKind, TaskId


def freezes(state: State) -> bool:
    """Tell if nothing but a fix lands on a red main in this run."""
    return state.run is not None and state.run.on_red_main != "judge" and bool(state.run.environment)


def main_seen(state: State, fact: f.MainSeen, _: Recorded) -> set[TaskId]:
    """Note where main is, and if another hand has moved it."""
    before, freed = state.main, held_back(state) if fact.tree != state.main.tree else set[TaskId]()
    state.main = Main(fact.branch, fact.commit, fact.tree)
    if not freezes(state):
        return freed
    main = replace(before, branch=fact.branch, commit=fact.commit, tree=fact.tree)
    if before.commit and fact.tree and fact.tree != before.tree and not _is_own(fact):
        if not before.unjudged and before.broken is None:
            main.good, main.green = before.commit, tuple(_passing(state))
        main.unjudged = bool(main.green)
    state.main = main
    return freed


def _is_own(fact: f.MainSeen) -> bool:
    return fact.why is not None and fact.why.code == Why.TASK_LANDED


def _passing(state: State) -> Iterator[str]:
    """The checks that passed on main when they ran there last."""
    environment = state.run.environment if state.run else ""
    for command, found in state.checks.baselines.items():
        if found.result.passed and found.environment == environment:
            yield command


def main_judged(state: State, fact: f.MainJudged, row: Recorded) -> set[TaskId]:
    """Note if main is broken."""
    main = state.main
    if fact.commit == main.commit:
        known = main.broken.culprit if main.broken else None
        main.unjudged = False
        main.broken = Broken(fact.red, row.time, culprit=known) if fact.red else None
    return set()


def culprit_found(state: State, fact: f.CulpritFound, _: Recorded) -> set[TaskId]:
    """Note which commit made main red; main is not broken if no commit did."""
    main = state.main
    if main.broken is None:
        return set()
    found = Culprit(fact.commit, fact.command, fact.author, fact.subject, fact.landed_by, fact.conflicts)
    known = replace(main.broken, searched=_rule(state), culprit=found if fact.commit else None)
    main.broken = None if fact.fails_before else known
    return set()


def _rule(state: State) -> str:
    return state.run.on_red_main if state.run else "freeze"


def landed_on_main(state: State, task: TaskState) -> set[TaskId]:
    """Its tested change has landed: main is what the checks showed. Returns the tasks that main held back."""
    freed = held_back(state)
    advance(state, task)
    candidate, main = task.change.candidate, state.main
    if candidate is None:
        return freed
    if main.broken and _mends(candidate, main.broken):
        main.broken = None
    if main.broken and _undoes(task, main.broken.culprit):  # and another commit keeps it red
        main.broken = replace(main.broken, culprit=None)
    if candidate.commit == main.commit and main.broken is None:
        main.unjudged = False
    return freed


def _undoes(task: TaskState, culprit: Culprit | None) -> bool:
    undo = task.change.undo
    return bool(undo and culprit and culprit.commit in {each.change for each in undo.undoes})


def _mends(candidate: Candidate, broken: Broken) -> bool:
    passed = {result.command for result in candidate.results if result.passed}
    return passed.issuperset(broken.commands)


def unjudged(state: State) -> tuple[str, ...]:
    """The checks that must run on main before anything lands (rule 3)."""
    main = state.main
    if not main.unjudged or not freezes(state) or _is_our_landing(state):
        return ()
    wanted = {command for name in state.index.train for command in state.tasks[name].spec.verify}
    wanted.update(main.broken.commands if main.broken else ())
    return tuple(command for command in main.green if command in wanted)


def _is_our_landing(state: State) -> bool:
    """Tell if main is at a change of ours whose landing the log does not have yet."""
    names = state.index.train.keys() | state.index.reconcile
    made = (state.tasks[name].change.candidate for name in names)
    return any(candidate is not None and candidate.commit == state.main.commit for candidate in made)


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
    is_unjudged = bool(unjudged(state))
    broken = state.main.broken if freezes(state) else None
    return {
        name
        for name in state.index.train
        if lacks_need(state, task := state.tasks[name])
        or ((is_unjudged or broken) and _waits_for_main(state.main, task, is_unjudged, broken))
    }


def _waits_for_main(main: Main, task: TaskState, is_unjudged: bool, broken: Broken | None) -> bool:
    """Tell if a change that passed its checks must wait for main (rules 3 and 4)."""
    candidate = task.change.candidate
    if candidate is None or task.phase.kind is not PhaseKind.LAND or candidate.commit == main.commit:
        return False
    return is_unjudged or bool(broken and not task.spec.reverts and not _mends(candidate, broken))


def frozen_by(state: State, task: TaskState) -> Broken | None:
    """Return the reason that a finished change waits for main to be green; None: it does not."""
    broken = state.main.broken if freezes(state) else None
    return broken if broken and _waits_for_main(state.main, task, False, broken) else None


# Any: each handler takes the one kind of fact it is listed under.
MAIN_HANDLERS: dict[type[f.Fact], Callable[[State, Any, Recorded], set[TaskId]]] = {
    f.MainSeen: main_seen,
    f.BaseChecked: base_checked,
    f.MainJudged: main_judged,
    f.CulpritFound: culprit_found,
}
