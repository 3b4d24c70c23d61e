"""Undo landed tasks, and commits of main, by one change that goes through the train."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.engine.loading import catch_up
from interlock.engine.undo import UndoPlan, facts_of, plan_undo
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.git.reverting import GitReverts
from interlock.model.errors import UsageError
from interlock.model.task import Commit, Reverted, TaskId
from interlock.train.undo import changes_of, landed_again, landing, landings, undoing
from interlock.ui.queries.tasks import find
from interlock.ui.words.undoing import in_the_way_lines

if TYPE_CHECKING:  # the engine takes long to import
    from interlock.engine.project import Project

SHORTEST = 7
"""Fewer characters are taken for the name of a task that does not exist."""


async def undo_plan(
    project: "Project", state: State, names: Sequence[str], *, include_later: bool
) -> tuple[UndoPlan, Commit]:
    """Find out what undoing these tasks and commits means, and where main is. Changes nothing."""
    found = [await _wanted(project, state, name) for name in dict.fromkeys(names)]
    wanted = list(dict.fromkeys(each for several in found for each in several))
    _refuse_landed_again(state, wanted)
    main = (await project.repository.tip()).commit
    plan = await plan_undo(GitReverts(project.place), state, main, wanted, include_later=include_later)
    if under_way := undoing(state, plan.undoes):
        name = under_way.spec.id
        raise UsageError(
            f"{name} undoes that already and is {under_way.stage.value}", f"interlock show {name}"
        )
    _refuse_landed_again(state, plan.undoes)
    if plan.revert.blocked_at:
        said, hint = in_the_way_lines(plan, names)
        raise UsageError(said, hint)
    if not plan.revert.commit:
        raise UsageError("nothing of that is on main any more", "git log --stat")
    return plan, main


def _refuse_landed_again(state: State, undoes: Sequence[Reverted]) -> None:
    if later := landed_again(state, undoes):
        name = later[0].task
        undone = ", ".join(each.task for each in undoes if landed_again(state, [each]))
        raise UsageError(
            f"{name} has landed again since {undone} (as {later[0].change[:12]}): to undo {undone} "
            "would bring its first change back on top of the second",
            f"interlock undo {name}",
        )


async def undo(project: "Project", state: State, plan: UndoPlan, main: Commit, actor: str) -> TaskId:
    """Put the change into the train; the name of its task. Brings `state` up to date."""
    facts = facts_of(state, plan, main, actor)
    await project.store.append(facts, actor)
    await catch_up(project.store, state)
    return next(name for name in reversed(state.tasks) if state.tasks[name].change.undo)


async def _wanted(project: "Project", state: State, name: str) -> list[Reverted]:
    if state.knows(TaskId(name)):
        return [_of_task(state, TaskId(name))]
    commit = await GitReverts(project.place).find(name) if _may_be_commit(name) else None
    if commit is None:
        return [_of_task(state, find(state, name).spec.id)]
    own = changes_of(state, {commit})
    return [*own.values()] or landings(state, {commit}) or [Reverted(commit)]


def _may_be_commit(name: str) -> bool:
    return len(name) >= SHORTEST or not name.isalnum()


def _of_task(state: State, name: TaskId) -> Reverted:
    if landed := landing(state, name):
        return landed
    task = find(state, name)
    if task.stage is Stage.DONE:
        raise UsageError(
            f"{name} was done without a change: there is nothing to undo", f"interlock show {name}"
        )
    raise UsageError(
        f"{name} has not landed, it is {task.stage.value}",
        f"interlock show {name}" if task.is_over else f"interlock cancel {name}",
    )
