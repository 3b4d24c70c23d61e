"""Every step that `decide` may ask for. Steps are imperative; nothing has happened yet."""

from dataclasses import dataclass

from interlock.model.budget import Amount
from interlock.model.forecast import Beside
from interlock.model.leases import Leased
from interlock.model.reason import Reason
from interlock.model.task import Commit, TaskId


@dataclass(frozen=True, slots=True)
class Start:
    """Claim the task and carry out one phase of it."""

    task: TaskId
    attempt: int
    phase: str
    why: Reason
    agent: str = ""
    """The agent chosen for it; '' if the phase has no agent."""
    beside: tuple[Beside, ...] = ()
    """Tasks under way that may edit the same paths."""
    agent_why: Reason | None = None
    """The reason for the agent; None if there was no choice."""
    leased: tuple[Leased, ...] = ()
    """The values that its programs have to themselves."""
    together: tuple[TaskId, ...] = ()
    """All tasks whose changes are checked on main, or land, as one; none: it is alone."""
    reserved: Amount | None = None
    """The share of the budgets to reserve for its agent; None: there are no budgets."""


PROJECT = TaskId("")
"""Stands where a task is named, for what is about no task."""


def build_slot(slot: int) -> TaskId:
    """Return the name of a slot for builds, where a task is named. No task has such an id."""
    return TaskId(f"build/{slot}")


@dataclass(frozen=True, slots=True)
class StartBuild:
    """Claim a slot, and run the checks of a change on top of others that are not on main yet."""

    slot: int
    change: TaskId
    ahead: tuple[TaskId, ...]
    """The tasks whose changes are merged below it."""
    works: tuple[Commit, ...]
    """The changes of those tasks, then its own."""
    main: Commit
    why: Reason
    leased: tuple[Leased, ...] = ()
    batch: int = 1
    """Run the checks of so many of them, the last ones, so that they can land as one."""

    @property
    def task(self) -> TaskId:
        return build_slot(self.slot)


@dataclass(frozen=True, slots=True)
class CheckMain:
    """Find out how checks end on main itself, before an agent starts on top of it."""

    commands: tuple[str, ...]
    """The project's own: a red one is looked at twice, because changes are judged by it."""
    promised: tuple[str, ...]
    """Commands that tasks promise to make pass: they need only be able to run."""
    timeout_seconds: float
    task: TaskId = PROJECT
    leased: tuple[Leased, ...] = ()


@dataclass(frozen=True, slots=True)
class FindCulprit:
    """Find the commit that made a check red on main, and prepare its revert."""

    main: Commit
    good: Commit
    """The last commit before."""
    command: str
    timeout_seconds: float
    task: TaskId = PROJECT
    leased: tuple[Leased, ...] = ()


@dataclass(frozen=True, slots=True)
class Recover:
    """A phase whose holder is gone: archive what it left and let the task go on."""

    task: TaskId
    attempt: int
    phase: str
    epoch: int
    why: Reason


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
    why: Reason


@dataclass(frozen=True, slots=True)
class Stop:
    """End what is under way about the task: it is no longer wanted."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class Tell:
    """Pass a person's message on to the agent at work. One that it does not take now is offered again."""

    task: TaskId
    attempt: int
    message: int
    """Its position in the log."""
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Pass a person's answer on to the agent that asked for permission."""

    task: TaskId
    attempt: int
    call: str
    allow: bool


@dataclass(frozen=True, slots=True)
class Widen:
    """Answer an agent that wants to edit more than was expected: the log is told first, then the agent."""

    task: TaskId
    attempt: int
    request: int
    """Its position in the log."""
    paths: tuple[str, ...]
    granted: bool
    why: Reason


@dataclass(frozen=True, slots=True)
class WindDown:
    """A newer Interlock wrote what this one must not decide without: finish what runs, start nothing."""

    task: TaskId = PROJECT


@dataclass(frozen=True, slots=True)
class End:
    """End the run: nothing is under way, and nothing becomes possible without a person."""

    task: TaskId = PROJECT


Step = (
    Start
    | StartBuild
    | CheckMain
    | FindCulprit
    | Recover
    | Archive
    | Reconcile
    | GiveUp
    | Stop
    | Tell
    | Answer
    | Widen
    | WindDown
    | End
)


@dataclass(frozen=True, slots=True)
class TakeCharge:
    """Become the controller."""

    dead: int | None = None
    """The epoch of one that is known to be gone: it is replaced before its lease ends."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Look for so long whether the last controller is alive."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Refuse:
    """Another controller is in charge."""


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An act of this process about a task, as far as decisions depend on it. The log does not know it."""

    attempt: int = 0
    epoch: int = 0
    """Epoch of its claim; 0: it has none."""
    can_stop: bool = False
    has_agent: bool = False
    is_build: bool = False
    told: frozenset[int] = frozenset()
    """The messages of people that its agent knows, by position in the log."""
    leased: tuple[Leased, ...] = ()
    """The values that its programs use until it has ended."""
