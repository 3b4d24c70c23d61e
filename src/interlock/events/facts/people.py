"""Facts about what people and the plan say."""

from dataclasses import dataclass, field

from interlock.events.facts.base import Fact
from interlock.model.leases import Leasable
from interlock.model.reason import Reason
from interlock.model.task import Origin, Task, TaskId


@dataclass(frozen=True, slots=True)
class PlanAccepted(Fact):
    """A task graph was read; the tasks that are new or changed follow as facts of their own."""

    source: str
    digest: str
    tasks: int
    leases: tuple[Leasable, ...] = ()
    """What it offers to tasks, so many of each."""


@dataclass(frozen=True, slots=True)
class TaskAccepted(Fact):
    """A task is part of the plan, as given here."""

    task: Task
    origin: Origin = field(default_factory=Origin)
    """The place that it comes from. A graph file without a name is the last one that was taken in."""
    parent: TaskId = TaskId("")
    """The task that it is a part of; empty: of none."""


@dataclass(frozen=True, slots=True)
class ProposalDeclined(Fact):
    """A person declined a task that the agent of `task` had proposed."""

    task: TaskId
    id: str


@dataclass(frozen=True, slots=True)
class TaskRemoved(Fact):
    """A task is no longer in the graph file that it came from."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class Paused(Fact):
    """No new attempt starts (with a task: none of this task)."""

    task: TaskId | None = None
    why: str = ""
    losses: int = 0
    """Losses in a row, if Interlock itself paused the task because of them; 0: a person paused it."""
    reason: Reason | None = None
    """The reason of Interlock itself; a person gives theirs in `why`."""


@dataclass(frozen=True, slots=True)
class Unpaused(Fact):
    """The pause is over."""

    task: TaskId | None = None


@dataclass(frozen=True, slots=True)
class Bumped(Fact):
    """A person moved a finished change to the front of the train."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class TaskRetried(Fact):
    """A person gives a failed or cancelled task another set of attempts."""

    task: TaskId
    note: str = ""
    """Told to the next attempt as feedback."""


@dataclass(frozen=True, slots=True)
class TaskReset(Fact):
    """A person released a stuck task; its former holder is fenced."""

    task: TaskId
    why: str = ""


@dataclass(frozen=True, slots=True)
class TaskCancelled(Fact):
    """A person does not want this task any more."""

    task: TaskId
    why: str = ""


@dataclass(frozen=True, slots=True)
class BudgetRaised(Fact):
    """A person added to a budget."""

    task: TaskId
    """The task, if it is the budget of one; else empty."""
    budget: str
    """`task`, `run`, `day` or `project`."""
    usd: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class MessageSaid(Fact):
    """A person said something to the agent of a task."""

    task: TaskId
    text: str


@dataclass(frozen=True, slots=True)
class MessageDelivered(Fact):
    """A running agent got the message. Later attempts find it in their prompt too."""

    task: TaskId
    attempt: int
    message: int
    """The position of MessageSaid in the log."""


@dataclass(frozen=True, slots=True)
class PermissionAnswered(Fact):
    """A person answered an agent's request for permission."""

    task: TaskId
    attempt: int
    call: str
    allow: bool


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Fact):
    """A person answered the question that an attempt ended with. The next attempt gets the answer."""

    task: TaskId
    attempt: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class StopRequested(Fact):
    """The running loop was asked to stop: first no new starts, with `agents` also those that run."""

    run: str
    agents: bool = False
    why: str = ""
    reason: Reason | None = None
    """The reason of Interlock itself; a person gives theirs in `why`."""
