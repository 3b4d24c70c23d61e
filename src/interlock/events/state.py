"""State: every task and the run, as the folded log has them.

Mutable on the inside so that a fact costs what it changes and not what there is; only `fold` writes to it.
"""

from dataclasses import dataclass, field

from interlock.events.asked import Question
from interlock.events.lifecycle import Stage
from interlock.events.overlaps import Overlaps
from interlock.events.record import GENESIS
from interlock.events.state_parts import Finished, LessonState, Limit, Measured, Provider, RunState, Warm
from interlock.events.tallies import Tallies
from interlock.events.task_parts import Change, Queue, Session, Spent, Talk, Trouble
from interlock.events.versions import Unknown
from interlock.model.canary import CanaryResult
from interlock.model.evidence import CLAIMED, UNCHECKED, Evidence
from interlock.model.forecast import Forecast
from interlock.model.outcome import Baseline
from interlock.model.reason import Reason
from interlock.model.task import Agent, Commit, Origin, Phase, PhaseKind, Task, TaskId, Tree
from interlock.model.usage import Usage

OTHER = "other"
"""The category of a task that has none."""


@dataclass(slots=True)
class TaskState:
    """One task, as the log has it."""

    spec: Task
    origin: Origin = field(default_factory=Origin)
    parent: TaskId = TaskId("")
    accepted: int = 0
    """The log position of its first definition: tasks are listed in this order."""
    forecast: Forecast | None = None
    """Its forecast; None: only its own definition is known."""
    stage: Stage = Stage.WAITING
    phase_index: int = 0
    since: float = 0.0
    """Time at which it entered its stage or phase."""
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
        """The agent of its last attempt; before the first, its first candidate."""
        return self.spec.agent_named(self.session.agent)

    @property
    def has_agent(self) -> bool:
        """True if an agent is at work on it."""
        return self.stage is Stage.RUNNING and self.phase.kind is PhaseKind.AGENT and not self.session.exited

    @property
    def category(self) -> str:
        """Its kind of work, as limits, lessons and figures go by it."""
        return self.forecast.category if self.forecast else self.spec.category or OTHER

    @property
    def expected_seconds(self) -> float:
        """The time that an agent will probably work on it."""
        return self.forecast.seconds if self.forecast else self.spec.estimate_seconds

    @property
    def evidence(self) -> Evidence | None:
        """The evidence for its change; None: it has no change that was not refused."""
        if self.change.found_done:
            return self.change.found_done
        if made := self.change.landed or self.change.candidate:
            return made.evidence
        if self.change.work and not self.is_over and self.phase.kind is not PhaseKind.AGENT:
            return UNCHECKED
        return CLAIMED if self.stage is Stage.DONE else None

    @property
    def knows_seconds(self) -> bool:
        """True if `expected_seconds` is more than a number to plan with."""
        return not self.forecast.is_guess if self.forecast else self.spec.has_estimate

    @property
    def asks(self) -> Question | None:
        """The question that it waits for a person to answer."""
        last = self.talk.questions[-1] if self.talk.questions else None
        return last if last and last.answer is None and self.stage is Stage.WAITING else None

    @property
    def is_over(self) -> bool:
        """True if nothing more happens to it by itself."""
        return self.stage not in (Stage.WAITING, Stage.RUNNING)

    @property
    def must_reconcile(self) -> bool:
        """True if it has a tested commit that may be on main, but is no longer on its way there."""
        if self.change.candidate is None or self.stage is Stage.DONE:
            return False
        return self.is_over or self.phase.kind is not PhaseKind.LAND


@dataclass(slots=True, repr=False)  # asyncio prints the result of a command to itself: megabytes
class State:
    """Everything that the log says."""

    seq: int = 0
    time: float = 0.0
    hash: str = GENESIS
    tasks: dict[TaskId, TaskState] = field(default_factory=dict)
    """All but those in `finished`."""
    finished: dict[TaskId, Finished] = field(default_factory=dict)
    """Tasks that were done long ago."""
    sample: bytes = b""
    """The first task that was packed: the others are packed as their difference from it."""
    recent: dict[TaskId, None] = field(default_factory=dict)
    """The tasks in `tasks` that are done, in the order in which they were."""
    kept: int = 100
    """The number of `recent` tasks that stay; of those done in the current run, ten times as many."""
    dependents: dict[TaskId, list[TaskId]] = field(default_factory=dict)
    """The tasks that need each task."""
    running: set[TaskId] = field(default_factory=set)
    train: dict[TaskId, int] = field(default_factory=dict)
    """Tasks whose next phase is a check or a landing, with their place in the queue."""
    reconcile: set[TaskId] = field(default_factory=set)
    """Tasks whose tested commit may be on main although they are no longer on their way there."""
    leftovers: set[TaskId] = field(default_factory=set)
    """Tasks with an attempt that must be ended and archived before anything else."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of tasks in each stage."""
    used: Usage = field(default_factory=Usage)
    """The usage of all attempts of all tasks, however they ended."""
    branch: str = ""
    main: Commit = Commit("")
    main_tree: Tree = Tree("")
    paused: bool = False
    pause_why: str = ""
    run: RunState | None = None
    baselines: dict[str, Baseline] = field(default_factory=dict)
    """The last result of each check on main, by command."""
    check_seconds: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Times of the last green runs of each command; a bounded number."""
    canaries: dict[str, CanaryResult] = field(default_factory=dict)
    """Results of the project's checks on code that was broken on purpose, by `canary_key`."""
    steered: Commit = Commit("")
    """The last landing that edits how checks run. Canaries that were tried before it count no more."""
    noticed_on: Tree = Tree("")
    """The tree of main that a canary was last made of and noticed on."""
    digest: str = ""
    """Digest of the task graph that was accepted last."""
    source: str = ""
    clutch: dict[str, Limit] = field(default_factory=dict)
    """Limits by category, over all runs."""
    provider_limits: dict[str, Limit] = field(default_factory=dict)
    """The most agents of each provider, where it has a limit."""
    providers: dict[str, Provider] = field(default_factory=dict)
    lessons: dict[str, LessonState] = field(default_factory=dict)
    warm: dict[str, Warm] = field(default_factory=dict)
    """The last agent of each story, the latest last; a bounded number."""
    pool: Measured | None = None
    """The last figures of the pool."""
    tallies: Tallies = field(default_factory=Tallies)
    """Sums over all runs."""
    overlaps: Overlaps = field(default_factory=Overlaps)
    """Results of tasks that were started side by side although they overlap."""
    exclusive: set[TaskId] = field(default_factory=set)
    """Tasks that hold paths alone while they are under way."""
    to_learn_from: set[TaskId] = field(default_factory=set)
    """Tasks that landed after a red check, and whose lessons are not worked out yet."""

    unknown: Unknown | None = None
    """The fact because of which this version may decide nothing from this log; None: there is none."""
    passed_over: int = 0
    """Facts that this version cannot read and need not know."""

    @property
    def trusted_tree(self) -> Tree:
        """The tree whose files no change made for a canary; empty: no landing gives reason for doubt."""
        return self.noticed_on if self.steered else Tree("")

    def knows(self, task: TaskId) -> bool:
        """Was it ever defined."""
        return task in self.tasks or task in self.finished

    def is_done(self, task: TaskId) -> bool:
        """Is it done, a moment or a year ago."""
        known = self.tasks.get(task)
        return known.stage is Stage.DONE if known else task in self.finished

    def is_selected(self, task: TaskId) -> bool:
        """True if the current run may work on it."""
        return self.run is None or self.run.selection is None or task in self.run.selection
