"""Steps that `decide` may ask for. They are imperative; nothing has happened yet."""

from dataclasses import dataclass

from interlock.model.forecast import Beside
from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class Start:
    """Claim the task and carry out one phase of it."""

    task: TaskId
    attempt: int
    phase: str
    why: str
    agent: str = ""
    """The agent chosen for it; '' if the phase has no agent."""
    beside: tuple[Beside, ...] = ()
    """Tasks under way that may edit the same paths."""
    ahead: TaskId = TaskId("")
    """It is to be checked on top of this task's change, which is not on main yet."""
    onto: Commit = Commit("")
    """The commit of that change."""


PROJECT = TaskId("")
"""Stands where a task is named, for what is about no task."""


@dataclass(frozen=True, slots=True)
class CheckMain:
    """Find out how checks end on main itself, before an agent starts on top of it."""

    commands: tuple[str, ...]
    """The project's own: a red one is looked at twice, because changes are judged by it."""
    promised: tuple[str, ...]
    """Those that tasks promise to make pass: they need only be able to run."""
    timeout_seconds: float
    """For each of them."""
    task: TaskId = PROJECT


@dataclass(frozen=True, slots=True)
class Recover:
    """A phase whose holder is gone: archive what it left and let the task go on."""

    task: TaskId
    attempt: int
    phase: str
    epoch: int
    why: str


@dataclass(frozen=True, slots=True)
class Archive:
    """A person took the task away from an attempt: make sure that it has ended, and keep what it left."""

    task: TaskId
    attempt: int


@dataclass(frozen=True, slots=True)
class Reconcile:
    """A person or a crash took the task away while its tested commit might have landed: look at main."""

    task: TaskId
    commit: Commit


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A task that has waited too long: no more attempts are made."""

    task: TaskId
    attempt: int
    why: str


Step = Start | CheckMain | Recover | Archive | Reconcile | GiveUp
