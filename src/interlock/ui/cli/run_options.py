"""The options that `plan` and `run` share: tasks and number of agents; and the warnings about a graph."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from interlock.model.task import TaskId
from interlock.plan import Filter, Graph, select
from interlock.ui.cli.output import note

Function = TypeVar("Function", bound=Callable[..., Any])  # Any: a command takes what its options say

OPTIONS = (
    ("--only", "only", "TASK", "Only this task."),
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


def tell_warnings(graph: Graph) -> None:
    """Print the warnings about a graph: it is allowed, but better known before anything starts."""
    for warning in graph.warnings:
        note(str(warning))
    unchecked = [task.id for task in graph.tasks if not task.verify and not task.done_when]
    if unchecked:
        some = ", ".join(unchecked[:3]) + (", ..." if len(unchecked) > 3 else "")
        note(f"warning: no check runs on {some} before it lands; set `verify` or `done_when`")


DIGITS = 10
"""No machine has room for so many agents, and Python refuses to read numbers of thousands of digits."""


class Number(click.ParamType[int | str]):
    """A number of at least 1, or `auto`."""

    name = "integer or auto"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        text = str(value).strip().lower()
        if text != "auto" and not (text.isdecimal() and len(text) < DIGITS and int(text) >= 1):
            self.fail(f"{value!r} is neither a positive number nor `auto`", param, ctx)
        return text if text == "auto" else int(text)


max_parallel_option = click.option(
    "--max-parallel",
    type=Number(),
    metavar="N|auto",
    help="Agents that may work at once; auto: the clutch decides for each kind of work "
    "(default: 3, and auto once a run has landed a change).",
)
