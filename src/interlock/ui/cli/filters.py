"""The options that say which tasks are meant, the same for `plan` and `run`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from interlock.model.task import TaskId
from interlock.plan import Filter, Graph, select

Function = TypeVar("Function", bound=Callable[..., Any])  # Any: a command takes what its options say

OPTIONS = (
    ("--only", "only", "TASK", "Exactly this task."),
    ("--from", "start_from", "TASK", "This task and everything that needs it."),
    ("--story", "story", "NAME", "Tasks of this story."),
    ("--priority", "priority", "TIER", "Tasks of this priority: 0 to 4, or its name."),
    ("--label", "label", "NAME", "Tasks with this label."),
    ("--subsystem", "subsystem", "NAME", "Tasks of this subsystem."),
    ("--category", "category", "NAME", "Tasks of this category."),
)


def filter_options(command: Function) -> Function:
    """Add them to a command. Each may be given several times."""
    for flag, name, metavar, text in reversed(OPTIONS):
        command = click.option(flag, name, metavar=metavar, multiple=True, help=text)(command)
    return command


def selected(graph: Graph, chosen: dict[str, tuple[str, ...]]) -> tuple[TaskId, ...] | None:
    """The tasks that were asked for; None when nothing was said, and so all are meant."""
    return select(graph.tasks, Filter(**chosen)) if any(chosen.values()) else None
