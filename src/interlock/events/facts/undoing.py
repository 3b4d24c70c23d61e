"""Facts about changes that undo what is on main."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact
from interlock.model.task import Commit, Reverted, TaskId


@dataclass(frozen=True, slots=True)
class RevertPrepared(Fact):
    """A change that undoes commits of main was made in memory. Its task, which has no agent, is checked and
    lands like any other."""

    task: TaskId
    base: Commit = Commit("")
    commit: Commit = Commit("")
    touched: tuple[str, ...] = ()
    undoes: tuple[Reverted, ...] = ()
    """The commits that it undoes, newest first."""
    reopens: bool = False
    """The tasks that it undoes start again when it has landed: one of them made main red."""
    command: str = ""
    """The check that is red on main, if that is why."""
    feedback: str = ""
    """The end of that check's output, for the agents of these tasks."""


@dataclass(frozen=True, slots=True)
class TaskUndone(Fact):
    """The landing of a task was undone on main. The task stays as it is until a person retries it."""

    task: TaskId
    commit: Commit = Commit("")
    """The commit of the landing."""
    by: TaskId = TaskId("")
    """The task whose change undid it."""


@dataclass(frozen=True, slots=True)
class TaskReopened(Fact):
    """The landing of a task was undone on main, because main was red with it: the task starts again."""

    task: TaskId
    commit: Commit = Commit("")
    by: TaskId = TaskId("")
    command: str = ""
    feedback: str = ""
