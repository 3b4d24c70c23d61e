"""A task graph that was accepted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.model.leases import Leasable
from interlock.model.setup import Setup
from interlock.model.task import Agent, Task
from interlock.plan.problem import Problem


@dataclass(frozen=True, slots=True)
class Graph:
    """A checked task graph. Its needs lead only to tasks in it and have no cycle."""

    tasks: tuple[Task, ...]
    """Tasks in the order of the file."""
    digest: str
    """SHA-256 of the text."""
    source: str
    warnings: tuple[Problem, ...] = ()
    agents: tuple[Agent, ...] = ()
    setup: Setup | None = None
    regenerate: Mapping[str, str] = field(default_factory=dict)
    """The command that makes the files which match a glob."""
    leases: tuple[Leasable, ...] = ()
    """What it offers to tasks, so many of each."""
    services: Mapping[str, str] = field(default_factory=dict)
    """Commands of programs that checks need beside them, by name."""
    teardown: tuple[str, ...] = ()
    """Commands that run after each attempt."""
