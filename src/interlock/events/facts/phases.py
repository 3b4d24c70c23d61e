"""Facts about the phases of a task."""

from dataclasses import dataclass

from interlock.events.facts.base import Fact, PhaseFact, PhasePassed
from interlock.model.budget import Amount
from interlock.model.forecast import Beside
from interlock.model.leases import Leased
from interlock.model.outcome import CheckResult, ErrorClass, Resolved
from interlock.model.reason import Reason
from interlock.model.task import Commit, Joined, TaskId, Tree
from interlock.model.unwanted import LeftOut
from interlock.model.usage import Usage


@dataclass(frozen=True, slots=True)
class PhaseStarted(PhaseFact):
    """The task was claimed for this phase. Written in the same transaction that raised the epoch."""

    holder: str = ""
    why: Reason | None = None
    agent: str = ""
    beside: tuple[Beside, ...] = ()
    """Tasks under way that it may conflict with: it started anyway, because a slot would have idled."""
    agent_why: Reason | None = None
    """The reason for its agent; None if there was no choice."""
    leased: tuple[Leased, ...] = ()
    """The values that its programs have to themselves."""
    together: tuple[TaskId, ...] = ()
    """All tasks whose changes are checked on main, or land, as one: this claim covers them."""
    reserved: Amount | None = None
    """The share of the budgets that is reserved for its agent; None: there are no budgets."""


@dataclass(frozen=True, slots=True)
class SessionOpened(PhaseFact):
    """An agent is about to start, or has said under which id its session can be resumed."""

    session: str = ""
    agent: str = ""
    use: str = ""
    model: str = ""
    sandbox: str = ""
    """The sandbox that it runs in."""
    base: Commit = Commit("")
    """The commit that it starts from."""


@dataclass(frozen=True, slots=True)
class PermissionAsked(PhaseFact):
    """An agent asks a person for permission, and waits for the answer."""

    call: str = ""
    """The tool call it is about, by the agent's own id."""
    tool: str = ""
    text: str = ""
    """The action that it asks for."""


@dataclass(frozen=True, slots=True)
class TaskProposed(PhaseFact):
    """An agent proposes another task. Nothing starts before a person has accepted it."""

    id: str = ""
    goal: str = ""
    needs: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionAsked(PhaseFact):
    """An agent ended its session with a question. The task waits for a person, and has not failed."""

    text: str = ""
    message: str = ""
    """The whole of its last message."""
    seconds: float = 0.0
    log: str = ""
    base: Commit = Commit("")
    commit: Commit | None = None
    """The commit that it has made so far, if any."""
    archived: str = ""
    usage: Usage | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class AgentExited(PhaseFact):
    """The agent's process has ended, so that its slot is free; what it made is still to be imported."""


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
    left_out: tuple[LeftOut, ...] = ()
    """Files of the attempt that do not land, because no person would commit them. They are kept in the
    commits below `commit`."""
    repeats: int = 0
    """The longest row of its tool calls that brought nothing new."""


@dataclass(frozen=True, slots=True)
class NoChangeNeeded(PhaseFact):
    """The task is done without a landing: its checks are green on main as it is, main has its change already,
    or its agent is a critic."""

    summary: str = ""
    base: Commit = Commit("")
    tree: Tree = Tree("")
    checks: tuple[CheckResult, ...] = ()
    """Results of its checks; none: only the agent says that nothing is to be done."""
    seconds: float = 0.0
    log: str = ""
    usage: Usage | None = None
    on_main: bool = False
    """The agent made a change, and main has all of it already."""


@dataclass(frozen=True, slots=True)
class CandidateBuilt(PhaseFact):
    """The change was merged onto `base` without a conflict, and its checks have begun."""

    base: Commit = Commit("")
    commit: Commit = Commit("")
    tree: Tree = Tree("")


@dataclass(frozen=True, slots=True)
class CandidatePassed(PhasePassed):
    """The change on top of `base` passed the checks. `commit` may land, as it is, on `base` only."""

    base: Commit = Commit("")
    commit: Commit = Commit("")
    tree: Tree = Tree("")
    work: Commit = Commit("")
    checks: tuple[CheckResult, ...] = ()
    seconds: float = 0.0
    lost_tests: tuple[str, ...] = ()
    """Files with tests that no report counts, and that the change removes or takes something from."""
    resolved: tuple[Resolved, ...] = ()
    """Files that main and the change both edited in the same places, and the command that made each."""
    digest: str = ""
    """Digest of the lines that it adds and removes; empty: no review can be asked for it."""
    lines: int = 0
    """The number of these lines; -1: a file of it is no text."""


@dataclass(frozen=True, slots=True)
class CandidateJoined(CandidatePassed):
    """The change passed together with others, as one merge: `commit` is that of all of them.

    The claim of the last of them covers all: the epoch is the last one of the task."""

    joined: Joined | None = None


@dataclass(frozen=True, slots=True)
class Landed(PhasePassed):
    """Main moved to the tested commit. This holds even if the claim was lost: only `commit` must match."""

    base: Commit = Commit("")
    commit: Commit = Commit("")
    tree: Tree = Tree("")
    proposed: Commit = Commit("")
    """The tested commit, where its pull request was merged as another one: merged, squashed or rebased."""


@dataclass(frozen=True, slots=True)
class LandingLost(Fact):
    """The commit of a task that has landed is no longer on main: a person moved main back."""

    task: TaskId
    commit: Commit = Commit("")
    now: Commit = Commit("")
    """The id that a rebase gave it; a `LandingSeen` of that one follows."""


@dataclass(frozen=True, slots=True)
class LandingSeen(Fact):
    """Main has a commit that landed for this task, and the log does not say so (any more)."""

    task: TaskId
    commit: Commit = Commit("")
    base: Commit = Commit("")
    tree: Tree = Tree("")


@dataclass(frozen=True, slots=True)
class CandidateStale(PhaseFact):
    """Main is not, or will never be, where the candidate was built; it is built again on `main`."""

    base: Commit = Commit("")
    main: Commit = Commit("")
    why: Reason | None = None
    """None: main moved on after the checks."""


@dataclass(frozen=True, slots=True)
class CandidateDropped(Fact):
    """A tested commit of a task that has moved on is not on main, and never will be."""

    task: TaskId
    commit: Commit


@dataclass(frozen=True, slots=True)
class PhaseFailed(PhaseFact):
    """The phase did not do what it should; what was learned goes back as feedback."""

    error: ErrorClass = ErrorClass.EXIT
    why: Reason | None = None
    fingerprint: str = ""
    feedback: str = ""
    seconds: float = 0.0
    log: str = ""
    commit: Commit | None = None
    archived: str = ""
    checks: tuple[CheckResult, ...] = ()
    retry_after_seconds: float = 0.0
    base: Commit = Commit("")
    """The commit that `commit` was made from."""
    usage: Usage | None = None
    session: str = ""
    left_out: tuple[LeftOut, ...] = ()
    """Files that do not land, as in WorkFinished."""


@dataclass(frozen=True, slots=True)
class PhaseLost(PhaseFact):
    """The holder of the phase is gone or was stopped; it says nothing about the task."""

    why: Reason | None = None
    archived: str = ""
    retry_after_seconds: float = 0.0
    """Grows with losses in a row: the task may be what ends its holders."""
    usage: Usage | None = None
    """Usage of an agent until then, from its transcript."""


@dataclass(frozen=True, slots=True)
class PhaseDeferred(PhaseFact):
    """Something outside the task is in the way (a full disk, a dirty checkout of main); it is tried again."""

    why: Reason | None = None
    retry_after_seconds: float = 5.0
    archived: str = ""
    usage: Usage | None = None
    """Usage, as in PhaseLost."""


@dataclass(frozen=True, slots=True)
class TaskFailed(Fact):
    """No more attempts are made, and why."""

    task: TaskId
    attempt: int
    why: Reason | None = None
    breaker: bool = False
    """True if the same failure came twice in a row."""


@dataclass(frozen=True, slots=True)
class WorkspaceArchived(Fact):
    """No process of an attempt runs any more; the content of its workspace, if any, is kept under `ref`."""

    task: TaskId
    attempt: int
    ref: str
    why: Reason | None = None
    usage: Usage | None = None
    """Usage, as in PhaseLost. It counts once for each attempt, even if several facts have it."""


@dataclass(frozen=True, slots=True)
class NotesSaved(Fact):
    """An agent's session is over, and its notes were written down."""

    task: TaskId
    attempt: int
    reason: str
    """`done`, `asked`, `error`, `timeout`, `idle`, `stopped`, `lost` ..."""
    summary: str = ""
    """The last message of the agent, or the way it ended."""
    path: str = ""
    """The notes, relative to the state folder."""


@dataclass(frozen=True, slots=True)
class CanaryTried(Fact):
    """Main was broken on purpose in a tree of its own, and the project's checks ran on that."""

    commands: tuple[str, ...]
    environment: str = ""
    """Environment of the checks."""
    noticed: bool = False
    places: tuple[str, ...] = ()
    """Places that were broken, one after the other, until the checks noticed. Empty: nothing to break."""
    seconds: float = 0.0
    """Time until they noticed the last break."""
    tree: Tree = Tree("")
    """Tree of main before it was broken."""
    given_up: bool = False
    """True if not all places were tried, because the checks take too long."""
    by_build: bool = False
    """No break was noticed but by a compiler or a linter: the checks were not seen to run the code."""
    noticed_by: tuple[str, ...] = ()
    """The commands that noticed; empty: an older version did not say."""


@dataclass(frozen=True, slots=True)
class CheckFlaked(Fact):
    """A check failed and passed on the same files, in the same environment: it counts as passed."""

    task: TaskId = TaskId("")
    """Empty: it ran on main."""
    attempt: int = 0
    command: str = ""
    saw: Tree = Tree("")
    """The tree that it could see, both times."""
    environment: str = ""
    red_log: str = ""
    """The output of the run that failed, and of the one that passed."""
    log: str = ""


@dataclass(frozen=True, slots=True)
class BaseChecked(Fact):
    """The result of one of the project's checks on a tree of main itself."""

    tree: Tree
    command: str
    exit_code: int
    tail: str = ""
    result: CheckResult | None = None
    """All that was observed, with the names of its tests unless they are too many; None: written by an older
    version, and not enough to judge by."""
    environment: str = ""
    """A digest of what decides the result besides the tree."""
    promised: bool = False
    """A task promises to make it pass: here it need only be able to run."""
