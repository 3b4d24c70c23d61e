"""Results of phases. A report names the attempt, commit and base it is about."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from interlock.model.budget import Amount
from interlock.model.durations import precisely
from interlock.model.failure_words import failure_text
from interlock.model.obstacle import Obstacle
from interlock.model.progress import CircleLimits
from interlock.model.reason import Reason, said
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import Agent, AttemptKey, Commit, TaskId, Tree
from interlock.model.unwanted import LeftOut
from interlock.model.usage import Usage


class ErrorClass(StrEnum):
    """The reason that a phase failed, coarse enough to decide on."""

    EXIT = "agent-exit"
    TIMEOUT = "timeout"
    IDLE = "idle"
    CIRCLE = "no-progress"
    """It went round in circles."""
    OUTPUT = "output-limit"
    LIMIT = "resource-limit"
    """The program took more memory or disk than it may."""
    NO_CHANGE = "no-change"
    REJECTED = "rejected-objects"
    CONFLICT = "merge-conflict"
    CHECK = "check-red"
    SECRET = "secret"  # noqa: S105 - the name of a class, no password
    """The change would put a secret on main."""
    AUTH = "auth"
    """The model's provider does not accept the credential, or there is none."""
    QUOTA = "quota"
    """The paid quota is used up."""
    RATE_LIMIT = "rate-limit"
    OVERLOADED = "overloaded"
    BAD_REQUEST = "bad-request"
    """The provider refused what the program sent."""
    CONTEXT = "context-too-long"
    NETWORK = "network"
    """The model cannot be reached, or the connection broke."""
    MODEL = "model"
    """The model's answer makes no sense: garbage, or nothing at all."""
    REVIEW = "changes-requested"
    """A reviewer of its pull request asks for changes. No attempt is blamed for that."""
    DENIED = "denied"
    """The program was not allowed to do something that mattered."""
    TURNS = "turn-limit"
    BUDGET = "budget"
    MISSING = "missing"
    """The agent's program is not installed or cannot be started, or its server has no such model."""
    ENVIRONMENT = "environment"
    OUTSIDE = "outside"
    """A full disk, a lease that was not renewed: it says nothing about the task, and is tried again."""


WAITS = frozenset({ErrorClass.RATE_LIMIT, ErrorClass.OVERLOADED, ErrorClass.NETWORK, ErrorClass.QUOTA})
"""The model was not available: it says nothing about the task, and ends by itself or with a payment."""

PARKED_SECONDS = 300.0
"""The longest that an attempt of unknown usage may take and still count as one that got no answer."""


def is_parked(error: ErrorClass, usage: Usage | None, seconds: float) -> bool:
    """Tell if an attempt that failed with this error got nothing from its model, and so has cost nothing."""
    used_nothing = usage.tokens == 0 if usage else seconds <= PARKED_SECONDS
    return error in WAITS and used_nothing


HOPELESS = frozenset({ErrorClass.AUTH, ErrorClass.MISSING})
"""Another attempt would end in the same way until a person has done something."""

OWN_FAULTS = frozenset(
    {
        ErrorClass.EXIT,
        ErrorClass.TIMEOUT,
        ErrorClass.IDLE,
        ErrorClass.CIRCLE,
        ErrorClass.OUTPUT,
        ErrorClass.LIMIT,
        ErrorClass.NO_CHANGE,
        ErrorClass.REJECTED,
        ErrorClass.CHECK,
        ErrorClass.SECRET,
        ErrorClass.CONTEXT,
        ErrorClass.DENIED,
        ErrorClass.TURNS,
        ErrorClass.BUDGET,
    }
)
"""Errors that an attempt can be blamed for. A conflict is not among them: it takes two."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A session that was cut off, and is to go on in a new attempt."""

    attempt: int
    session: str
    base: Commit
    """The commit it started from, and its change is still relative to."""
    start: str = ""
    """The ref of what its workspace held; empty: nothing."""
    answered: bool = False
    """True if the session was not cut off: it ended with a question, and a person has answered it."""


@dataclass(frozen=True, slots=True)
class Order:
    """One attempt to carry out: everything an executor needs, so that it may be on another machine."""

    task: TaskId
    attempt: int
    epoch: int
    base: Commit
    agent: Agent
    prompt: str
    session: str
    """A fresh id (a UUID) for the agent's session."""
    timeout_seconds: float
    idle_seconds: float
    resume: Resume | None = None
    start: Commit | None = None
    """A commit on top of `base` whose files the workspace has at the beginning; None: those of `base`."""
    expected: tuple[str, ...] = ()
    """Globs that it is expected to edit; an agent that asks before it edits another path asks for scope."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The values that its programs have leased."""
    reserved: Amount | None = None
    """The share of the budgets that is reserved for it; None: there are no budgets."""
    circles: CircleLimits = field(default_factory=CircleLimits)
    """The limits after which it makes no progress."""

    @property
    def key(self) -> AttemptKey:
        return AttemptKey(self.task, self.attempt)


@dataclass(frozen=True, slots=True)
class ProposedTask:
    """A task that an agent proposes."""

    id: str
    goal: str
    needs: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptCallbacks:
    """Callbacks to the engine while an attempt runs."""

    opened: Callable[[str, str, Commit], Awaitable[None]]
    """The session begins: its id, its kind of sandbox, and the base it works on. Comes again if the program
    has an id of its own."""
    exited: Callable[[], Awaitable[None]]
    """The agent's process tree has ended: its slot is free."""
    asked: Callable[[str, str, str], Awaitable[None]]
    """The agent asks a person for leave: the call it is about, the tool, and what it wants to do."""
    scope: Callable[[tuple[str, ...], str], Awaitable[None]]
    """The agent wants to edit unexpected paths, and says why. `Executor.widen` has the answer."""
    proposed: Callable[[ProposedTask], Awaitable[None]]
    """The agent proposes another task."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The question that an agent put to a person at the end of its session."""

    text: str
    message: str = ""
    """The whole of its last message."""
    is_explicit: bool = False
    """Asked in the form that is there for it, so that it counts even if the agent has changed something."""


@dataclass(frozen=True, slots=True)
class Report:
    """The end of an attempt, as observed from outside the agent."""

    task: TaskId
    attempt: int
    base: Commit
    error: ErrorClass | None = None
    summary: str = ""
    """The last words of the agent, or of its program."""
    why: Reason | None = None
    """The reason of `error`; None: the summary is all that is known."""
    exit_code: int | None = None
    commit: Commit | None = None
    """The agent's change, imported into the repository; also set on failure when there was a change."""
    touched: tuple[str, ...] = ()
    tail: str = ""
    """The last lines of output."""
    log: str = ""
    """The path of the whole output, relative to the state folder."""
    seconds: float = 0.0
    archived: str = ""
    """The ref that keeps what the workspace held."""
    usage: Usage | None = None
    session: str = ""
    """The id under which the session can be resumed."""
    retry_after_seconds: float = 0.0
    """The pause that the model's provider asked for."""
    left_out: tuple[LeftOut, ...] = ()
    """Files of the workspace that are not part of `commit`, because no person would commit them."""
    asks: Asking | None = None
    """The session ended well, with a question that a person has to answer."""
    denied: str = ""
    """The tool use that was denied to the agent to the end. It ended well all the same."""
    repeats: int = 0
    """The longest row of its tool calls that brought nothing new."""

    @property
    def text(self) -> str:
        return failure_text(self.why) or self.summary

    @property
    def reason(self) -> Reason:
        return self.why or said(self.summary)


class CheckKey(NamedTuple):
    """Everything that decides the result of a check: where all of it is equal, the result is too."""

    command: str
    environment: str
    """Digest of what decides it besides the tree."""
    saw: Tree
    change: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One command run on one tree: evidence."""

    command: str
    exit_code: int
    seconds: float = 0.0
    tail: str = ""
    log: str = ""
    timed_out: bool = False
    red_on_base: bool = False
    """True if it fails on the base too: it is reported and not held against the candidate."""
    suite: SuiteResult | None = None
    """Its tests; None: its output has no report that can be read."""
    unable: Unable | None = None
    """The reason that it could not run; None: it ran, with any result."""
    about: str = ""
    """The missing program, module or host, where that is known."""
    usual_seconds: float = 0.0
    """The usual time of a check that was stopped because it took far longer; 0: it was not."""
    newly_failing: tuple[str, ...] = ()
    """Tests that fail and did not on main, where main was red too."""
    vanished: tuple[str, ...] = ()
    """Tests that passed on main and did not pass here."""
    fewer_passed: int = 0
    """The number of main's tests that did not pass; in a report without names, how many fewer passed."""
    main_passed: int = 0
    """The number of tests that passed on main, where main was green."""
    unlike_main: bool = False
    """True if it is red on main too, but for another reason: no known failing test explains it."""
    other_reason: str = ""
    """The output line that shows that, where there is one."""
    newly_failing_count: int = 0
    vanished_count: int = 0
    """The number of those: only the first are named. 0: as many as are named."""

    watched: int = 0
    """Source files of the change of which it is known whether the command read them."""
    unread: tuple[str, ...] = ()
    """Those of these files that it did not read."""
    read: tuple[str, ...] = ()
    """Those that it did read, where that is asked: a build of several changes tells it for each of them."""
    edited: tuple[str, ...] = ()
    """Files of the change that it edited before it passed: it did not test what would land."""
    rewrites: tuple[str, ...] = ()
    """Of a check on main: those that it edited there too, so that it is no fault of a change."""
    saw: Tree = Tree("")
    """The tree that the command could see; empty: an older version did not say."""
    environment: str = ""
    """Digest of what decides the result besides the tree; empty: it is not known."""
    change: str = ""
    """Digest of the names of the files of the change that it could see: which of these it reads and edits is
    part of the result. Empty: none."""
    inputs: tuple[str, ...] = ()
    """Globs of the files that it could see; none: all files."""
    reused: bool = False
    """True if it was not run: an earlier run on the same files is its result, and its log."""

    @property
    def key(self) -> CheckKey | None:
        """None: what it depends on is not known."""
        if not (self.saw and self.environment):
            return None
        return CheckKey(self.command, self.environment, self.saw, self.change)

    @property
    def passed(self) -> bool:
        """Tell if the command succeeded by itself, on the files as they were."""
        return self.exit_code == 0 and not self.timed_out and not self.edited

    @property
    def how(self) -> str:
        if self.usual_seconds:
            return f"was stopped after {precisely(self.seconds)} (usually {precisely(self.usual_seconds)})"
        return "timed out" if self.timed_out else f"exited {self.exit_code}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The latest result of a check on a tree of main."""

    tree: Tree
    environment: str
    run: str
    """The run that found out."""
    result: CheckResult


@dataclass(frozen=True, slots=True)
class Clash:
    """A file that both sides edited in the same places. Each side is the id of its content."""

    path: str
    mode: str
    """File mode on main, as git writes it."""
    base: str
    """Empty: both sides added the file."""
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """A file of a merged tree in which both sides clashed, and the command that made its content."""

    path: str
    command: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A command that was to resolve a conflict and did not."""

    result: CheckResult
    obstacle: Obstacle
    path: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """The outcome of merging in memory: a tree, or the paths that conflict."""

    tree: Tree | None
    conflicts: tuple[str, ...] = ()
    text: str = ""
    marked: Tree | None = None
    """The tree with conflict markers; None: the conflict is about more than the content of plain files."""
    clashes: tuple[Clash, ...] = ()
    """The conflicting files of `marked`."""
    resolved: tuple[Resolved, ...] = ()
    """The files of `tree` in which both sides clashed."""
    unresolved: Unresolved | None = None
    """The command that was to resolve the conflict and did not."""


class Move(StrEnum):
    """The result of an attempt to move main."""

    MOVED = "moved"
    STALE = "stale"
    """Main is not where the candidate was built."""
    FENCED = "fenced"
    """A newer controller exists; this one must stop."""
    HELD = "held"
    """The person is on main and has uncommitted changes to the same files, or is in the middle of a merge."""
    BUSY = "busy"
    """Another git process holds the ref's lock."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The size of a change, and what an approval of it is for."""

    digest: str
    """Digest of the lines that it adds and removes, without their numbers; empty: it was not measured."""
    lines: int
    """The number of these lines; -1: a file of it is no text, or it is too long to count."""


@dataclass(frozen=True, slots=True)
class Tip:
    """The commit and tree that a branch points to."""

    branch: str
    commit: Commit
    tree: Tree


@dataclass(frozen=True, slots=True)
class Landing:
    """A request to move a branch, with everything that must still be true when it moves."""

    branch: str
    new: Commit
    old: Commit
    fence: int
    """The controller's epoch, compared with the fence ref in the same ref transaction."""
    tree: Tree | None = None
    """The tree that was tested. If `new` holds another one, nothing moves."""
    task: str = ""
    """The task whose change it is: kept beside the branch, for a log that loses its end."""
    along: tuple[str, ...] = ()
    """The other tasks whose changes are in it."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """All of them."""
        return (self.task, *self.along) if self.task else ()
