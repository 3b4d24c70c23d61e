"""Everything that can have happened. Names are past tense; a result names what it is a result of.

Rules:
1. A fact is never edited. A new meaning is a new fact.
2. New fields get a default, so that old logs stay readable.
3. Facts about a phase carry the epoch under which they were made; the fold ignores the rest.
"""

from dataclasses import dataclass

from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.task import Commit, Task, TaskId, Tree
from interlock.model.usage import Usage


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened."""


# What people and the plan say


@dataclass(frozen=True, slots=True)
class PlanAccepted(Fact):
    """A task graph was read; the tasks that are new or changed follow as facts of their own."""

    source: str
    digest: str
    tasks: int


@dataclass(frozen=True, slots=True)
class TaskAccepted(Fact):
    """A task is part of the plan, as given here."""

    task: Task


@dataclass(frozen=True, slots=True)
class TaskRemoved(Fact):
    """A task is no longer in the graph."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class Paused(Fact):
    """Nothing new starts (or, with a task: this one does not)."""

    task: TaskId | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Unpaused(Fact):
    """The pause is over."""

    task: TaskId | None = None


@dataclass(frozen=True, slots=True)
class TaskRetried(Fact):
    """A person gives a failed or cancelled task another set of attempts."""

    task: TaskId
    note: str = ""
    """Told to the next attempt as feedback."""


@dataclass(frozen=True, slots=True)
class TaskReset(Fact):
    """A person released a stuck task; whoever held it is fenced."""

    task: TaskId
    why: str = ""


@dataclass(frozen=True, slots=True)
class TaskCancelled(Fact):
    """A person does not want this task any more."""

    task: TaskId
    why: str = ""


@dataclass(frozen=True, slots=True)
class MessageSaid(Fact):
    """A person said something to the agent of a task."""

    task: TaskId
    text: str


@dataclass(frozen=True, slots=True)
class MessageDelivered(Fact):
    """An agent was given it while it ran. Later attempts find it in their prompt all the same."""

    task: TaskId
    attempt: int
    message: int
    """The position of MessageSaid in the log."""


@dataclass(frozen=True, slots=True)
class PermissionAnswered(Fact):
    """A person answered what an agent asked leave for."""

    task: TaskId
    attempt: int
    call: str
    allow: bool


@dataclass(frozen=True, slots=True)
class StopRequested(Fact):
    """Somebody asked the running loop to stop: first no new starts, with `agents` also those that run."""

    run: str
    agents: bool = False
    why: str = ""


# What the loop says about itself


@dataclass(frozen=True, slots=True)
class RunStarted(Fact):
    """A loop became the controller of this project."""

    run: str
    holder: str
    generation: int
    max_parallel: int
    selection: tuple[TaskId, ...] | None = None
    """Only these tasks are to run; None: all."""
    sandbox: str = ""
    """What keeps its agents and checks from the rest of the machine; `none`: a person said so."""


@dataclass(frozen=True, slots=True)
class RunEnded(Fact):
    """The loop came to rest, or was stopped."""

    run: str
    why: str


@dataclass(frozen=True, slots=True)
class ClutchDecided(Fact):
    """How many agents may work at once, and which brake says so."""

    limit: int
    brake: str
    why: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class MainSeen(Fact):
    """Where the protected branch was found to be."""

    branch: str
    commit: Commit
    tree: Tree
    why: str = ""


# What happens to a task


@dataclass(frozen=True, slots=True)
class PhaseFact(Fact):
    """About one phase of one attempt, under one claim."""

    task: TaskId
    attempt: int
    phase: str
    epoch: int


@dataclass(frozen=True, slots=True)
class PhaseStarted(PhaseFact):
    """The task was claimed for this phase. Written in the same transaction that raised the epoch."""

    holder: str = ""
    why: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SessionOpened(PhaseFact):
    """An agent is about to start, or has said under which id its session can be resumed."""

    session: str = ""
    agent: str = ""
    use: str = ""
    model: str = ""
    sandbox: str = ""
    """What keeps it from the rest of the machine."""
    base: Commit = Commit("")
    """What it starts from."""


@dataclass(frozen=True, slots=True)
class PermissionAsked(PhaseFact):
    """An agent asks a person for leave, and waits for the answer."""

    call: str = ""
    """The tool call it is about, by the agent's own id."""
    tool: str = ""
    text: str = ""
    """What it wants to do."""


@dataclass(frozen=True, slots=True)
class AgentExited(PhaseFact):
    """The agent's process has ended, so that its slot is free; what it made is still to be imported."""


@dataclass(frozen=True, slots=True)
class PhasePassed(PhaseFact):
    """The phase is over and the next one may begin."""


@dataclass(frozen=True, slots=True)
class WorkFinished(PhasePassed):
    """An agent left a change, and it was imported."""

    base: Commit = Commit("")
    commit: Commit = Commit("")
    touched: tuple[str, ...] = ()
    seconds: float = 0.0
    summary: str = ""
    log: str = ""
    archived: str = ""
    usage: Usage | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class CandidatePassed(PhasePassed):
    """The change on top of main passed the checks. `commit` may land, as it is, on `base` only."""

    base: Commit = Commit("")
    commit: Commit = Commit("")
    tree: Tree = Tree("")
    work: Commit = Commit("")
    checks: tuple[CheckResult, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Landed(PhasePassed):
    """Main moved to the tested commit: true whatever became of the claim, so only `commit` must match."""

    base: Commit = Commit("")
    commit: Commit = Commit("")
    tree: Tree = Tree("")


@dataclass(frozen=True, slots=True)
class CandidateStale(PhaseFact):
    """Main moved on after the checks; the candidate is built again on `main`."""

    base: Commit = Commit("")
    main: Commit = Commit("")


@dataclass(frozen=True, slots=True)
class CandidateDropped(Fact):
    """A tested commit of a task that has moved on is not on main, and never will be."""

    task: TaskId
    commit: Commit


@dataclass(frozen=True, slots=True)
class PhaseFailed(PhaseFact):
    """The phase did not do what it should; what was learned goes back as feedback."""

    error: ErrorClass = ErrorClass.EXIT
    summary: str = ""
    fingerprint: str = ""
    feedback: str = ""
    seconds: float = 0.0
    log: str = ""
    commit: Commit | None = None
    archived: str = ""
    checks: tuple[CheckResult, ...] = ()
    retry_after_seconds: float = 0.0
    base: Commit = Commit("")
    """What `commit` was made from."""
    usage: Usage | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class PhaseLost(PhaseFact):
    """The holder of the phase is gone or was stopped; it says nothing about the task."""

    why: str = ""
    archived: str = ""


@dataclass(frozen=True, slots=True)
class PhaseDeferred(PhaseFact):
    """Something outside the task is in the way (a full disk, a dirty checkout of main); it is tried again."""

    why: str = ""
    retry_after_seconds: float = 5.0
    archived: str = ""


@dataclass(frozen=True, slots=True)
class TaskFailed(Fact):
    """No more attempts are made, and why."""

    task: TaskId
    attempt: int
    why: str
    breaker: bool = False
    """The same failure came twice in a row."""


@dataclass(frozen=True, slots=True)
class WorkspaceArchived(Fact):
    """Nothing of an attempt runs any more; what its workspace held, if anything, is kept under `ref`."""

    task: TaskId
    attempt: int
    ref: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class NotesSaved(Fact):
    """An agent's session is over, for whatever reason, and what is known of it was written down."""

    task: TaskId
    attempt: int
    reason: str
    """`done`, `error`, `timeout`, `idle`, `stopped`, `lost` ..."""
    summary: str = ""
    """What the agent said last, or how it ended."""
    path: str = ""
    """The notes, relative to the state folder."""


@dataclass(frozen=True, slots=True)
class BaseChecked(Fact):
    """How one of the project's checks ends on a tree of main itself."""

    tree: Tree
    command: str
    exit_code: int
    tail: str = ""


def kinds() -> dict[str, type[Fact]]:
    """Every concrete fact by its name in the log."""
    abstract = (Fact, PhaseFact, PhasePassed)
    return {
        name: kind
        for name, kind in globals().items()
        if isinstance(kind, type) and issubclass(kind, Fact) and kind not in abstract
    }
