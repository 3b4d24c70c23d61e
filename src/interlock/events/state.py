"""What the log adds up to: the state of every task and of the run.

Mutable on the inside so that a fact costs what it changes and not what there is; only `fold` writes to it.
"""

from dataclasses import dataclass, field

from interlock.events.asked import Question
from interlock.events.lifecycle import Stage
from interlock.events.overlaps import Overlaps
from interlock.events.parts import Change, Queue, Session, Spent, Talk, Trouble
from interlock.events.record import GENESIS
from interlock.events.tallies import Tallies
from interlock.events.versions import Unknown
from interlock.model.canary import CanaryResult
from interlock.model.evidence import CLAIMED, UNCHECKED, Evidence
from interlock.model.forecast import Forecast
from interlock.model.lesson import Lesson
from interlock.model.outcome import Baseline
from interlock.model.pool import PoolFigures
from interlock.model.reason import Reason
from interlock.model.task import Agent, Commit, Origin, Phase, PhaseKind, Task, TaskId, Tree

OTHER = "other"
"""The category of a task that nobody has put into one."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How many agents may work at once on one kind of work, as the clutch said last."""

    limit: int
    brake: str
    why: str
    time: float
    evidence: dict[str, float] = field(default_factory=dict)
    goodput: int = 0
    """What the goodput brake alone allows; 0: it was not asked."""
    until: float = 0.0
    """With no place at all: when that ends."""
    landed: int = 0
    """Since that number is being tried, and with all of them at work."""
    troubled: int = 0
    """The same for conflicts and red checks."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server or credential, as its brake said last."""

    limit: float
    why: str
    until: float
    time: float
    calls: int = 0
    """Over all runs."""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Warm:
    """Where an agent worked last on a story."""

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
    """How many landings have shown it."""
    shown_by: tuple[Commit, ...] = ()
    """The last of these landings."""
    with_tried: float = 0.0
    with_landed: float = 0.0
    without_tried: float = 0.0
    without_landed: float = 0.0
    retired: str = ""
    """Why it is not offered any more."""

    @property
    def is_trusted(self) -> bool:
        """A person wrote it, or most attempts with it have landed."""
        return bool(self.lesson.author) or 2 * self.with_landed > self.with_tried


@dataclass(slots=True)
class TaskState:
    """One task, as the log has it."""

    spec: Task
    origin: Origin = field(default_factory=Origin)
    parent: TaskId = TaskId("")
    forecast: Forecast | None = None
    """What is expected of it; None: only its own definition is known."""
    stage: Stage = Stage.WAITING
    phase_index: int = 0
    since: float = 0.0
    """When it entered its stage or phase."""
    attempt: int = 0
    epoch: int = 0
    why: Reason | None = None
    """The last reason given: why it started, failed, or was cancelled."""
    queue: Queue = field(default_factory=Queue)
    session: Session = field(default_factory=Session)
    talk: Talk = field(default_factory=Talk)
    change: Change = field(default_factory=Change)
    trouble: Trouble = field(default_factory=Trouble)
    spent: Spent = field(default_factory=Spent)

    @property
    def phase(self) -> Phase:
        """The phase it is in, or that comes next."""
        return self.spec.pipeline[min(self.phase_index, len(self.spec.pipeline) - 1)]

    @property
    def who(self) -> Agent:
        """Who has its last attempt, or had it; before the first, its first candidate."""
        return self.spec.agent_named(self.session.agent)

    @property
    def has_agent(self) -> bool:
        """Is an agent at work on it."""
        return self.stage is Stage.RUNNING and self.phase.kind is PhaseKind.AGENT and not self.session.exited

    @property
    def category(self) -> str:
        """Its kind of work, as limits, lessons and figures go by it."""
        return self.forecast.category if self.forecast else self.spec.category or OTHER

    @property
    def expected_seconds(self) -> float:
        """How long an agent will probably work on it."""
        return self.forecast.seconds if self.forecast else self.spec.estimate_seconds

    @property
    def evidence(self) -> Evidence | None:
        """How well its change is known to work; None: there is none, or none that was not refused."""
        if self.change.found_done:
            return self.change.found_done
        if made := self.change.landed or self.change.candidate:
            return made.evidence
        if self.change.work and not self.is_over and self.phase.kind is not PhaseKind.AGENT:
            return UNCHECKED
        return CLAIMED if self.stage is Stage.DONE else None

    @property
    def knows_seconds(self) -> bool:
        """Is `expected_seconds` more than a number to plan with."""
        return not self.forecast.is_guess if self.forecast else self.spec.has_estimate

    @property
    def asks(self) -> Question | None:
        """The question that it waits for a person to answer."""
        last = self.talk.questions[-1] if self.talk.questions else None
        return last if last and last.answer is None and self.stage is Stage.WAITING else None

    @property
    def is_over(self) -> bool:
        """Nothing more happens to it by itself."""
        return self.stage not in (Stage.WAITING, Stage.RUNNING)

    @property
    def must_reconcile(self) -> bool:
        """It has a tested commit that may be on main, but is no longer on its way there."""
        if self.change.candidate is None or self.stage is Stage.DONE:
            return False
        return self.is_over or self.phase.kind is not PhaseKind.LAND


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
    ended_why: str = ""
    sandbox: str = ""
    slots: dict[str, int] = field(default_factory=dict)
    """How many agents of a role may work at once."""
    brake: Limit | None = None
    """What the clutch said last of all agents together."""
    lane_depth: int = 1
    environment: str = ""
    """What decides the result of a check besides the tree; empty: checks are not tried on main first."""


@dataclass(slots=True)
class State:
    """Everything that is known."""

    seq: int = 0
    time: float = 0.0
    hash: str = GENESIS
    tasks: dict[TaskId, TaskState] = field(default_factory=dict)
    dependents: dict[TaskId, list[TaskId]] = field(default_factory=dict)
    """Who needs whom, the other way round."""
    running: set[TaskId] = field(default_factory=set)
    train: dict[TaskId, int] = field(default_factory=dict)
    """Tasks whose next phase is a check or a landing, with their place in the queue."""
    reconcile: set[TaskId] = field(default_factory=set)
    """Tasks whose tested commit may be on main although they are no longer on their way there."""
    leftovers: set[TaskId] = field(default_factory=set)
    """With an attempt that must be ended and archived before anything else."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many tasks are in each stage."""
    branch: str = ""
    main: Commit = Commit("")
    main_tree: Tree = Tree("")
    paused: bool = False
    pause_why: str = ""
    run: RunState | None = None
    baselines: dict[str, Baseline] = field(default_factory=dict)
    """How each check ended on main, by command; the last time only."""
    check_seconds: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """By command, how long its last green runs took; a bounded number."""
    canaries: dict[str, CanaryResult] = field(default_factory=dict)
    """What the project's checks said of code that was broken on purpose, by `canary_key`."""
    steered: Commit = Commit("")
    """The last landing that edits how checks run. Canaries that were tried before it count no more."""
    noticed_on: Tree = Tree("")
    """The tree of main that a canary was last made of and noticed on."""
    digest: str = ""
    """Of the task graph that was accepted last."""
    source: str = ""
    clutch: dict[str, Limit] = field(default_factory=dict)
    """By category, over all runs."""
    provider_limits: dict[str, Limit] = field(default_factory=dict)
    """How many agents each provider has room for, where that is less than any number."""
    providers: dict[str, Provider] = field(default_factory=dict)
    lessons: dict[str, LessonState] = field(default_factory=dict)
    warm: dict[str, Warm] = field(default_factory=dict)
    """By story, the latest last; a bounded number."""
    pool: Measured | None = None
    """How the pool was doing when it was measured last."""
    tallies: Tallies = field(default_factory=Tallies)
    """What is counted over all runs."""
    overlaps: Overlaps = field(default_factory=Overlaps)
    """What came of tasks that were started side by side although they overlap."""
    elsewhere: Tallies = field(default_factory=Tallies)
    """What other projects of the same user count, as far as it was heard of."""
    exclusive: set[TaskId] = field(default_factory=set)
    """Tasks that hold paths alone while they are under way."""
    to_learn_from: set[TaskId] = field(default_factory=set)
    """Tasks that landed after a check was red, and that nobody has looked at yet."""

    unknown: Unknown | None = None
    """Not None: nothing may be decided from this log by this version."""
    passed_over: int = 0
    """Facts that this version cannot read and need not know."""

    @property
    def trusted_tree(self) -> Tree:
        """The tree whose files no change made for a canary; empty: no landing gives reason for doubt."""
        return self.noticed_on if self.steered else Tree("")

    def is_selected(self, task: TaskId) -> bool:
        """May the current run work on it."""
        return self.run is None or self.run.selection is None or task in self.run.selection
