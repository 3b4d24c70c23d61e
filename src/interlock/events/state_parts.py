"""The parts of State, without those of a task (`task_parts`). Only `fold` writes to them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from interlock.events.overlaps import Overlaps
from interlock.events.tallies import Tallies
from interlock.model.budget import NOTHING, Amount, Budget
from interlock.model.canary import CanaryResult
from interlock.model.leases import Leasable
from interlock.model.lesson import Lesson
from interlock.model.outcome import Baseline, CheckKey, CheckResult
from interlock.model.pool import PoolFigures
from interlock.model.reason import Reason
from interlock.model.task import Commit, TaskId, Tree


@dataclass(frozen=True, slots=True)
class Limit:
    """The last limit of the clutch on agents at work at once on one kind of work."""

    limit: int
    brake: str
    why: Reason | None
    time: float
    evidence: dict[str, float] = field(default_factory=dict)
    goodput: int = 0
    """The number that the goodput brake alone allows; 0: it was not asked."""
    until: float = 0.0
    """End of a limit of 0."""
    landed: int = 0
    """Landings with all agents at work, since that number is being tried."""
    troubled: int = 0
    """Conflicts and red checks with all agents at work."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server or credential, as its brake said last."""

    limit: float
    why: Reason | None
    until: float
    time: float
    calls: int = 0
    """Over all runs."""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Warm:
    """The last agent that worked on a story."""

    task: TaskId
    agent: str
    time: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The pool's figures, as a run wrote them down last."""

    run: str
    time: float
    figures: PoolFigures


@dataclass(slots=True)
class LessonState:
    """A lesson, and how attempts fared with it and without."""

    lesson: Lesson
    learned: int = 1
    """Number of landings that have shown it."""
    shown_by: tuple[Commit, ...] = ()
    """The last of these landings."""
    with_tried: float = 0.0
    with_landed: float = 0.0
    without_tried: float = 0.0
    without_landed: float = 0.0
    retired: Reason | None = None
    """The reason why it is no longer offered."""

    @property
    def is_trusted(self) -> bool:
        """A person wrote it, or most attempts with it have landed."""
        return bool(self.lesson.author) or 2 * self.with_landed > self.with_tried


@dataclass(slots=True)
class RunState:
    """The loop that is (or was last) in charge."""

    run: str
    holder: str
    generation: int
    limit: int
    selection: frozenset[TaskId] | None
    started: float
    stopping: bool = False
    stop_agents: bool = False
    ended: float | None = None
    ended_why: Reason | None = None
    sandbox: str = ""
    slots: dict[str, int] = field(default_factory=dict)
    """The most agents of each role at once."""
    brake: Limit | None = None
    """The last limit of the clutch on all agents together."""
    lane_depth: int = 1
    joint: bool = False
    """Changes that passed together may land as one merge."""
    environment: str = ""
    """Digest of what decides the result of a check besides the tree; empty: main is not checked first."""
    radar: str = ""
    """The answer to overlaps; empty: the radar is off."""
    on_red_main: str = "judge"


class Finished(NamedTuple):
    """A task that was done long ago."""

    accepted: int
    """Its place in the list of tasks (`TaskState.accepted`)."""
    commit: Commit
    """The commit that landed; empty: it was found done."""
    own: Commit
    """The commit below it with the change of this task alone; empty: it landed alone."""
    branch: str
    packed: bytes
    """All of its `TaskState`."""


@dataclass(slots=True)
class DoneTasks:
    """Tasks that are done: the recent ones, and those that were done long ago."""

    packed: dict[TaskId, Finished] = field(default_factory=dict)
    """Tasks that were done long ago."""
    sample: bytes = b""
    """The first task that was packed: the others are packed as their difference from it."""
    recent: dict[TaskId, None] = field(default_factory=dict)
    """The tasks in `State.tasks` that are done, in the order in which they were."""
    kept: int = 100
    """The number of `recent` tasks that stay; of those done in the current run, ten times as many."""


@dataclass(slots=True)
class TaskIndex:
    """The tasks of `State.tasks` by what they wait for or do, so that a decision need not look at all."""

    dependents: dict[TaskId, list[TaskId]] = field(default_factory=dict)
    """The tasks that need each task."""
    running: set[TaskId] = field(default_factory=set)
    train: dict[TaskId, int] = field(default_factory=dict)
    """Tasks whose next phase is a check or a landing, with their place in the queue."""
    reconcile: set[TaskId] = field(default_factory=set)
    """Tasks whose tested commit may be on main although they are no longer on their way there."""
    leftovers: set[TaskId] = field(default_factory=set)
    """Tasks with an attempt that must be ended and archived before anything else."""
    leaving: dict[TaskId, TaskId] = field(default_factory=dict)
    """Tasks that are about to be undone, with the task that undoes each."""
    undos: set[TaskId] = field(default_factory=set)
    """Tasks that are done and undo others."""
    exclusive: set[TaskId] = field(default_factory=set)
    """Tasks that hold paths alone while they are under way."""
    leased: set[TaskId] = field(default_factory=set)
    """Tasks that hold values of `leases`, or held them last."""
    to_learn_from: set[TaskId] = field(default_factory=set)
    """Tasks that landed after a red check, and whose lessons are not worked out yet."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of tasks in each stage, those that were done long ago too."""


@dataclass(slots=True)
class AcceptedGraph:
    """The task graph that was accepted last."""

    digest: str = ""
    source: str = ""
    leases: tuple[Leasable, ...] = ()
    """What it offers to tasks, so many of each."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """The commit that made main red."""

    commit: Commit
    command: str
    author: str = ""
    subject: str = ""
    task: TaskId = TaskId("")
    """The task that landed it; empty: another hand."""
    conflicts: tuple[str, ...] = ()
    """The paths in which later commits are in the way of a revert."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Main is red: these checks passed on it before another hand moved it."""

    commands: tuple[str, ...]
    since: float
    searched: str = ""
    """`on_red_main` of the run that searched the commit to blame; empty: that is still to be done."""
    culprit: Culprit | None = None
    """The commit to blame, or while it is being searched the one that was found before."""


@dataclass(slots=True)
class Main:
    """The branch that changes land on, as it was seen last."""

    branch: str = ""
    commit: Commit = Commit("")
    tree: Tree = Tree("")
    good: Commit = Commit("")
    """The last commit before another hand moved it, and below the checks that passed then."""
    green: tuple[str, ...] = ()
    unjudged: bool = False
    """Another hand has moved it, and these checks have not run there yet."""
    broken: Broken | None = None


@dataclass(frozen=True, slots=True)
class Unstated:
    """Landed commits whose statement could not be written."""

    commits: int
    why: Reason | None


@dataclass(slots=True)
class Checks:
    """Results and times of checks."""

    baselines: dict[str, Baseline] = field(default_factory=dict)
    """The last result of each check on main, by command."""
    known: dict[CheckKey, CheckResult] = field(default_factory=dict)
    """Results that need not be found out again, the latest last; a bounded number. Only `known_checks` may
    say which of them counts."""
    seconds: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Times of the last green runs of each command; a bounded number."""
    canaries: dict[str, CanaryResult] = field(default_factory=dict)
    """Results of the project's checks on code that was broken on purpose, by `canary_key`."""
    steered: Commit = Commit("")
    """The last landing that removes tests or edits how checks run. Canaries tried before it count no more."""
    noticed_on: Tree = Tree("")
    """The tree of main that a canary was last made of and noticed on."""

    @property
    def trusted_tree(self) -> Tree:
        """The tree whose files no change made for a canary; empty: no landing gives reason for doubt."""
        return self.noticed_on if self.steered else Tree("")


@dataclass(frozen=True, slots=True)
class Build:
    """A run of the checks of a change on top of others that are not on main yet."""

    task: TaskId
    ahead: tuple[TaskId, ...]
    """The tasks below it that have not landed yet, in their order."""
    works: tuple[Commit, ...]
    """The changes of those tasks, then its own: other work of them makes the build worthless."""
    main: Commit
    """The commit of main for which it counts; landings below it move it on."""
    epoch: int
    started: float
    beside: tuple[str, ...] = ()
    """Paths that have landed since, and that it does not have."""
    passed: bool | None = None
    """None: it runs."""
    seconds: float = 0.0
    results: tuple[CheckResult, ...] = ()
    """Results of its checks, without their output and the names of their tests."""
    conflicts: tuple[str, ...] = ()
    """Paths on which the changes conflict: then no check ran."""
    batch: int = 1
    """The checks of so many changes run, its own and those right before it."""
    joint: tuple[tuple[str, str], ...] = ()
    """Of a green one of several changes: its commands, and in `CheckKey.change` the files of all of them."""
    apart: bool = False
    """It was found that these changes do not land as one."""


@dataclass(slots=True)
class Builds:
    """The builds of the current run."""

    running: dict[int, Build] = field(default_factory=dict)
    """By slot."""
    ended: tuple[Build, ...] = ()
    """Those of changes that are still in the train; a bounded number."""
    failures: int = 0
    """Builds in a row that came to no result."""
    not_before: float = 0.0


@dataclass(slots=True)
class StartLimits:
    """Limits on the agents that may start: those of people, of the clutch and of providers."""

    paused: bool = False
    pause_why: str = ""
    categories: dict[str, Limit] = field(default_factory=dict)
    """Limits of the clutch by category, over all runs."""
    providers: dict[str, Limit] = field(default_factory=dict)
    """The most agents of each provider, where it has a limit."""
    brakes: dict[str, Provider] = field(default_factory=dict)
    """Each provider, as its brake said last."""


@dataclass(slots=True)
class Money:
    """Budgets, and what was spent of those that all tasks share (`events.money`)."""

    limits: dict[str, Budget] = field(default_factory=dict)
    """Those of the current run, by `Budgeted`."""
    raised: dict[str, Amount] = field(default_factory=dict)
    """The amounts that people have added to each."""
    run_spent: Amount = NOTHING
    day_spent: Amount = NOTHING
    day: int = 0
    """The day of that, in days since 1970."""
    wanted: Amount = NOTHING
    """The most of a call that a budget refused in this run: with less, no attempt starts."""


@dataclass(slots=True)
class Learned:
    """Results of all runs, for the estimates, lessons and choices of the next."""

    tallies: Tallies = field(default_factory=Tallies)
    """Sums over all runs."""
    overlaps: Overlaps = field(default_factory=Overlaps)
    """Results of tasks that were started side by side although they overlap."""
    lessons: dict[str, LessonState] = field(default_factory=dict)
    warm: dict[str, Warm] = field(default_factory=dict)
    """The last agent of each story, the latest last; a bounded number."""
    pool: Measured | None = None
    """The last figures of the pool."""


@dataclass(frozen=True, slots=True)
class LiveOverlap:
    """An overlap that has not gone."""

    task: TaskId
    attempt: int
    other: TaskId
    other_attempt: int
    paths: tuple[str, ...]
    count: int
    since: float
    seq: int
    """The log position of its first report."""

    def is_of(self, task: TaskId) -> bool:
        return task in (self.task, self.other)

    def beside(self, task: TaskId) -> TaskId:
        """The other one of the two."""
        return self.other if task == self.task else self.task


@dataclass(slots=True)
class RadarState:
    """The overlaps that the radar sees."""

    live: dict[str, LiveOverlap] = field(default_factory=dict)
    """By both names: no name has a space in it."""

    def of(self, task: TaskId) -> list[LiveOverlap]:
        return [each for each in self.live.values() if each.is_of(task)]
