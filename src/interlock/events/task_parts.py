"""The parts of a task's state, one for each side of its life. Only `fold` writes to them."""

from dataclasses import dataclass, field

from interlock.events.asked import Permission, Proposal, Question, Said, ScopeRequest, SessionEnd
from interlock.events.tallies import Shift
from interlock.model.budget import NOTHING, Amount
from interlock.model.evidence import UNCHECKED, Evidence
from interlock.model.leases import Leased
from interlock.model.outcome import CheckResult, ErrorClass, Resume
from interlock.model.pull_request import Standing
from interlock.model.reason import Reason
from interlock.model.task import Commit, Joined, Reverted, TaskId, Tree
from interlock.model.unwanted import LeftOut
from interlock.model.usage import Usage


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed phase, as the next attempt is told of it."""

    attempt: int
    phase: str
    error: ErrorClass
    why: Reason | None
    fingerprint: str
    feedback: str
    log: str = ""
    commit: Commit | None = None
    """The commit of the attempt, if it made one, and below the commit it was made from."""
    base: Commit = Commit("")
    command: str = ""
    """The check that was red, if one was."""
    agent: str = ""
    """Agent of the attempt."""
    left_out: tuple[LeftOut, ...] = ()
    """Files of the attempt that would not have landed."""


@dataclass(frozen=True, slots=True)
class Work:
    """The change that an agent made."""

    attempt: int
    commit: Commit
    base: Commit
    touched: tuple[str, ...]
    seq: int
    """The log position at which it joined the train: its place in the queue."""
    left_out: tuple[LeftOut, ...] = ()
    bumped: bool = False
    """A person moved it to the front of the train: it gives way to no other."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The commits that a task undoes, and the fate of the tasks that landed them."""

    undoes: tuple[Reverted, ...]
    reopens: bool = False
    """They start again, with the output of the check that is red on main."""
    command: str = ""
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The change as a commit on top of `base`: being checked, or passed."""

    commit: Commit
    tree: Tree
    base: Commit
    evidence: Evidence = UNCHECKED
    """The result of its checks."""
    results: tuple[CheckResult, ...] = ()
    """Results of its checks, which are those of main once it lands."""
    branch: str = ""
    """The commit that it landed as."""
    digest: str = ""
    """Digest of the lines that it adds and removes; empty: no review can be asked for it."""
    lines: int = 0
    """The number of these lines; -1: a file of it is no text."""
    joined: Joined | None = None
    """Its share, where it is one commit with the changes of other tasks."""

    @property
    def ends(self) -> tuple[Commit, Commit]:
        """The two commits between which the change of the task is."""
        return (self.joined.below, self.joined.own) if self.joined else (self.base, self.commit)


@dataclass(frozen=True, slots=True)
class OpenPullRequest:
    """The pull request of a task, as it was seen last."""

    number: int
    url: str
    commit: Commit
    """The tested commit that it proposes."""
    base: Commit = Commit("")
    standing: str = Standing.OPEN
    reviews: tuple[str, ...] = ()
    """The reviews that its agent knows."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a person on a change in review."""

    by: str
    text: str
    path: str = ""
    line: int = 0
    around: str = ""
    """That line with those around it, each with its number."""


@dataclass(frozen=True, slots=True)
class Review:
    """The review of a tested change by a person."""

    digest: str
    """The change: what it adds and removes, and the commit of its agent."""
    work: Commit
    base: Commit
    commit: Commit
    """The tested commit on top of `base` for which the review was opened last."""
    why: Reason | None
    since: float
    """Time at which it was first opened for this change."""
    look_again: bool = False
    """True until a landing has found out again if a review is needed: the settings may be others now."""
    approved: bool = False
    by: str = ""
    """The person who approved it."""
    note: str = ""
    comments: tuple[Comment, ...] = ()

    def is_of(self, digest: str, work: Commit) -> bool:
        return (self.digest, self.work) == (digest, work)


@dataclass(frozen=True, slots=True)
class Opened:
    """An agent's session, as it was announced."""

    attempt: int
    session: str
    use: str
    model: str
    sandbox: str
    base: Commit


@dataclass(slots=True)
class Queue:
    """A task's place among those that could start."""

    unmet: int = 0
    """Needs that have not landed yet."""
    paused: bool = False
    held_back: Reason | None = None
    """The reason why Interlock itself has paused it."""
    ready_since: float = 0.0
    """Time at which it last became free to start, for ageing."""
    not_before: float = 0.0
    counted_as: str = ""
    """The category it is counted under while it could start; empty: it could not."""


@dataclass(slots=True)
class Session:
    """The agent of the last attempt, and its session."""

    agent: str = ""
    """The name of the agent; empty: there was no attempt yet."""
    holder: str = ""
    """The process that has, or had, the phase."""
    exited: bool = False
    """The agent has ended and needs no slot; the phase goes on until its work is imported."""
    opened: Opened | None = None
    end: SessionEnd | None = None
    cut_off: Resume | None = None
    """A session that ended without a result through no fault of its own, and may go on."""
    leftover: int = 0
    """An attempt that a person took the task away from: it may still run, and is not archived yet."""
    offered: tuple[str, ...] = ()
    """The lessons that the attempt was given."""
    held_out: tuple[str, ...] = ()
    """Lessons that were held back from it, to measure if they help."""
    scope: tuple[str, ...] = ()
    """Paths that the agent may edit in addition, because it asked."""
    leased: tuple[Leased, ...] = ()
    """The values that its programs have to themselves, or had last (`events.leases`)."""
    reserved: Amount | None = None
    """The share of the budgets that is reserved for the attempt until it ends; None: no budgets."""
    shift: Shift | None = None
    """The last time that an agent worked on the task."""


@dataclass(slots=True)
class Talk:
    """Messages between a task's agents and people."""

    notes: str = ""
    """A person's note for the next attempt."""
    said: list[Said] = field(default_factory=list)
    """Messages of people to its agents, oldest first; every attempt gets them."""
    permissions: list[Permission] = field(default_factory=list)
    """Requests for permission of its agent in this attempt."""
    questions: list[Question] = field(default_factory=list)
    """Questions that its attempts ended with, oldest first; all but the last are answered."""
    requests: list[ScopeRequest] = field(default_factory=list)
    """Requests of its agents for scope, oldest first, with the answers."""
    proposals: list[Proposal] = field(default_factory=list)
    """Tasks that its agents proposed, oldest first; accepted ones are known to State under their id."""


@dataclass(slots=True)
class Change:
    """A task's change on its way to main."""

    work: Work | None = None
    built: Candidate | None = None
    """The candidate that is being checked now."""
    candidate: Candidate | None = None
    together: tuple[TaskId, ...] = ()
    """All tasks that its phase now checks or lands as one; none: it is alone."""
    landed: Candidate | None = None
    undo: Undo | None = None
    """The commits that this task undoes; None: its change is that of an agent."""
    undone: Candidate | None = None
    """Its last landing that was undone: that commit is on main, and the task is not done."""
    pull_request: OpenPullRequest | None = None
    """The pull request that proposes it, or an earlier candidate of it."""
    review: Review | None = None
    """The review of it, or of an earlier change of the task."""
    found_done: Evidence | None = None
    """The task is done without a landing, as nothing was left to change; how well that is known."""


@dataclass(slots=True)
class Trouble:
    """Failures and losses of a task; the retry limit and the breaker look at these."""

    failures: list[Failure] = field(default_factory=list)
    """Since the last reset or retry by a person."""
    losses: int = 0
    """Phases lost in a row without any result."""
    deferrals: int = 0
    """Times in a row that something outside the task was in the way."""
    waits: int = 0
    """Times in a row that the model was unavailable."""
    attempts: int = 0
    """Attempts that may have cost something, however they ended, since a person last said how to go on."""
    closed: dict[str, float] = field(default_factory=dict)
    """Time until which the model of an agent is unavailable, as this task found out."""


@dataclass(slots=True)
class Spent:
    """Time, tokens and money of all attempts of a task, however they ended."""

    usage: Usage = field(default_factory=Usage)
    usage_of: int = 0
    """The last attempt that is counted there."""
    busy_seconds: float = 0.0
    """Time that agents have spent on it."""
    raised: Amount = NOTHING
    """The amount that people have added to its budget."""
