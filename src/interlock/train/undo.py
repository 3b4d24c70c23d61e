"""The rules of undoing: which landings go together, and what becomes of their tasks.

Rules:
1. With a task go the landed tasks that need it, directly or not: they were built on it. The others that
   landed with it in one merge stay: only its own commit is undone.
2. The change that undoes is a task of its own, without an agent. It is merged, checked and landed like any
   other.
3. Once it is on main, the tasks that it undoes are not done any more. What a person undid waits for
   `interlock retry`; what made main red starts again, with the output of the check.
4. If such a change is undone itself, the tasks that it undid are done again, unless they have new work.
5. It is not undone where one of these tasks has landed again since: that would bring its first change back
   on top of the second, and take away what this one was built on.
6. Tasks that need an undone task wait again, also those whose work is finished (`events.red_main`).
"""

from collections.abc import Collection, Iterable, Sequence

from interlock.events import facts as f
from interlock.events.finished import all_tasks, unpacked
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.task import (
    UNDO_PIPELINE,
    Agent,
    Commit,
    Origin,
    OriginKind,
    Reverted,
    Task,
    TaskId,
    all_inputs,
)

GIT = Agent("git", "command", ("git-revert",))
"""Stands where a task names its agent: git makes the change."""
PREFIX = "undo-"
_NAME_CHARS = 56
_SHORT = 12


def landed_commit(state: State, name: TaskId) -> Commit:
    """Return the commit that a task landed; empty: it is not done, or was found done."""
    if packed := state.done.packed.get(name):
        return packed.commit
    task = state.tasks.get(name)
    return task.change.landed.commit if task and task.change.landed and state.is_done(name) else Commit("")


def with_landed_dependents(state: State, names: Iterable[TaskId]) -> list[Reverted]:
    """Return the landings of these tasks and of all that need them (rule 1)."""
    needed_by: dict[TaskId, list[TaskId]] = {}
    for task in all_tasks(state):
        for need in task.spec.needs:
            needed_by.setdefault(need, []).append(task.spec.id)
    found: dict[TaskId, Reverted] = {}
    left = list(names)
    while left:
        name = left.pop()
        if name not in found and (landed := landing(state, name)):
            found[name] = landed
            left += needed_by.get(name, [])
    return list(found.values())


def landing(state: State, name: TaskId) -> Reverted | None:
    """Return the landing of a task, as that what may be undone; None: it has none."""
    if packed := state.done.packed.get(name):
        return Reverted(packed.commit, name, packed.own) if packed.commit else None
    task = state.tasks.get(name)
    landed = task.change.landed if task and state.is_done(name) else None
    own = landed.joined.own if landed and landed.joined else Commit("")
    return Reverted(landed.commit, name, own) if landed else None


def landings(state: State, commits: Collection[Commit]) -> list[Reverted]:
    """Return the landings that are these commits of main. One that landed several tasks is one for each, in
    the order of their commits."""
    names = [name for name, done in state.done.packed.items() if done.commit in commits]
    names += [name for name in state.done.recent if landed_commit(state, name) in commits]
    found: dict[TaskId, Reverted] = {}
    for name in names:
        landed = _known(state, name).change.landed
        for each in landed.joined.tasks if landed and landed.joined else (name,):
            if each in names and (one := landing(state, each)):
                found[each] = one
    return list(found.values())


def changes_of(state: State, commits: Collection[Commit]) -> dict[Commit, Reverted]:
    """Return the landings of tasks whose changes are these commits: of main, or below a merge of several."""
    found = dict[Commit, Reverted]()
    for name in (*state.done.packed, *state.done.recent):
        if (one := landing(state, name)) and one.change in commits:
            found[one.change] = one
    return found


def is_joint(state: State, commit: Commit) -> bool:
    """Return True for a commit of main that landed several tasks, also if some of them are undone."""
    changes = (task.change for task in state.tasks.values())
    made = (each for change in changes for each in (change.landed, change.undone) if each)
    packed = (done.own for done in state.done.packed.values() if done.commit == commit)
    return any(packed) or any(each.joined for each in made if each.commit == commit)


def undoing(state: State, undoes: Collection[Reverted]) -> TaskState | None:
    """Return a task under way that undoes one of these already."""
    changes = {each.change for each in undoes}
    return next(
        (
            task
            for task in state.tasks.values()
            if task.change.undo and not task.is_over and changes & {e.change for e in task.change.undo.undoes}
        ),
        None,
    )


def undo_task(state: State, undoes: Sequence[Reverted], first: Reverted) -> Task:
    """Return the task that undoes these commits, newest first; `first` gives it its name."""
    name = _free_name(state, first.task or first.commit[:_SHORT])
    listed = [f"- {each.task or 'a commit'}: {each.change[:_SHORT]}" for each in undoes]
    others = f" and {len(undoes) - 1} more" if len(undoes) > 1 else ""
    goal = "\n".join((f"Undo {first.task or first.commit[:_SHORT]}{others}", "", "This undoes:", *listed))
    specs = _judges(state, undoes)
    return Task(
        name,
        goal,
        GIT,
        verify=tuple(dict.fromkeys(command for spec in specs for command in spec.verify)),
        red_main=specs[0].red_main if specs else "baseline",
        check_seconds=max((spec.check_seconds for spec in specs), default=900.0),
        pipeline=UNDO_PIPELINE,
        inputs=tuple(all_inputs(specs).items()),
        leases=tuple(dict.fromkeys(name for spec in specs for name in spec.leases)),
    )


def undo_facts(task: Task, prepared: f.RevertPrepared, who: str) -> list[f.Fact]:
    """Return the facts that put such a task into the log."""
    return [f.TaskAccepted(task, Origin(OriginKind.UNDO, who)), prepared]


def undone(state: State) -> list[f.Fact]:
    """Return the facts that follow from the changes on main that undo others, and are not in the log yet."""
    facts: list[f.Fact] = []
    for name in sorted(state.index.undos & state.tasks.keys()):
        undo = state.tasks[name].change.undo
        for each in undo.undoes if undo else ():
            if not each.task or landed_commit(state, each.task) != each.commit:
                continue
            if undo and undo.reopens:
                facts.append(f.TaskReopened(each.task, each.commit, name, undo.command, undo.feedback))
            else:
                facts.append(f.TaskUndone(each.task, each.commit, name))
            facts += [f.LandingSeen(back.task, back.commit) for back in back_on_main(state, each.task)]
    return facts


def back_on_main(state: State, name: TaskId) -> list[Reverted]:
    """Return what is done again once this task, which undoes others, is undone itself (rule 4)."""
    undo = _known(state, name).change.undo
    return [each for each in (undo.undoes if undo else ()) if _is_as_it_was(state.tasks.get(each.task), each)]


def landed_again(state: State, undoes: Iterable[Reverted]) -> list[Reverted]:
    """Return the later landings of the tasks that these undid, where they undo others themselves (rule 5)."""
    found = list[Reverted]()
    for each in undoes:
        undo = _known(state, each.task).change.undo if each.task else None
        for was in undo.undoes if undo else ():
            now = landing(state, was.task) if was.task else None
            if now and now.change != was.change:
                found.append(now)
    return found


def _is_as_it_was(task: TaskState | None, each: Reverted) -> bool:
    """Tell if a task has not gone on since it was undone."""
    if task is None or task.change.undone is None or task.stage in (Stage.RUNNING, Stage.REMOVED):
        return False
    has_new_work = task.change.work is not None and not task.spec.reverts
    return task.change.undone.commit == each.commit and not has_new_work


def _judges(state: State, undoes: Iterable[Reverted]) -> list[Task]:
    """The tasks whose checks must pass: those that are open, and those that are undone."""
    names = [each.task for each in undoes if each.task]
    specs = [task.spec for task in state.tasks.values() if not task.is_over and not task.spec.reverts]
    specs += [_known(state, name).spec for name in names]
    if not any(spec.verify for spec in specs):
        latest = max(all_tasks(state), key=lambda task: task.accepted, default=None)
        specs = [latest.spec] if latest else []
    return specs


def _known(state: State, name: TaskId) -> TaskState:
    return state.tasks.get(name) or unpacked(state, name)


def _free_name(state: State, what: str) -> TaskId:
    """Return a name that no task has."""
    stem = TaskId(f"{PREFIX}{what}"[:_NAME_CHARS])
    name, number = stem, 1
    while state.knows(name):
        number += 1
        name = TaskId(f"{stem}-{number}")
    return name
