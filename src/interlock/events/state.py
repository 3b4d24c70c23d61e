"""State: every task and the run, as the folded log has them.

Mutable on the inside so that a fact costs what it changes and not what there is; only `fold` writes to it.
"""

from dataclasses import dataclass, field

from interlock.events.asked import Question
from interlock.events.lifecycle import Stage
from interlock.events.record import GENESIS
from interlock.events.state_parts import (
    AcceptedGraph,
    Builds,
    Checks,
    DoneTasks,
    Learned,
    Main,
    Money,
    RadarState,
    RunState,
    StartLimits,
    TaskIndex,
    Unstated,
)
from interlock.events.task_parts import Change, OpenPullRequest, Queue, Review, Session, Spent, Talk, Trouble
from interlock.events.versions import Unknown
from interlock.model.evidence import CLAIMED, UNCHECKED, Evidence
from interlock.model.forecast import Forecast
from interlock.model.reason import Reason, Why
from interlock.model.task import Agent, Origin, Phase, PhaseKind, Task, TaskId
from interlock.model.usage import Usage

FOR_PEOPLE = frozenset((Why.CHECKOUT_IN_THE_WAY, Why.NOT_PUSHED, Why.PUSH_REFUSED, Why.BRANCH_TAKEN))
"""The reasons that stop a landing until a person removes them."""
PATIENT_LOOKS = 5
"""Looks at it, half a minute, after which a run no longer waits for the person."""
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
    def proposed(self) -> OpenPullRequest | None:
        """The pull request that it waits for."""
        opened, made = self.change.pull_request, self.change.candidate
        is_current = opened is not None and made is not None and opened.commit == made.commit
        waits = self.stage is Stage.WAITING and self.phase.kind is PhaseKind.LAND
        return opened if is_current and waits else None

    @property
    def in_review(self) -> Review | None:
        """The review that it waits for."""
        review, made = self.change.review, self.change.candidate
        is_open = review is not None and made is not None and not review.approved
        waits = self.stage is Stage.WAITING and self.phase.kind is PhaseKind.LAND
        return review if is_open and waits and review and made and review.commit == made.commit else None

    @property
    def held_up(self) -> Reason | None:
        """The reason that a person must remove before its tested change can land."""
        waits = self.stage is Stage.WAITING and self.phase.kind is PhaseKind.LAND
        return self.why if waits and self.why and self.why.code in FOR_PEOPLE else None

    @property
    def waits_for_person(self) -> bool:
        """True if only a person, or a forge, lets it go on."""
        is_stuck = self.held_up is not None and self.trouble.deferrals >= PATIENT_LOOKS
        return is_stuck or self.asks is not None or self.proposed is not None or self.in_review is not None

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
    """All but those that were done long ago (`done.packed`)."""
    done: DoneTasks = field(default_factory=DoneTasks)
    index: TaskIndex = field(default_factory=TaskIndex)
    graph: AcceptedGraph = field(default_factory=AcceptedGraph)
    run: RunState | None = None
    main: Main = field(default_factory=Main)
    checks: Checks = field(default_factory=Checks)
    builds: Builds = field(default_factory=Builds)
    limits: StartLimits = field(default_factory=StartLimits)
    learned: Learned = field(default_factory=Learned)
    radar: RadarState = field(default_factory=RadarState)
    used: Usage = field(default_factory=Usage)
    """The usage of all attempts of all tasks, however they ended."""
    money: Money = field(default_factory=Money)
    unstated: Unstated | None = None
    """None: each landed commit has its statement, as far as the log says."""
    unknown: Unknown | None = None
    """The fact because of which this version may decide nothing from this log; None: there is none."""
    passed_over: int = 0
    """Facts that this version cannot read and need not know."""

    def knows(self, task: TaskId) -> bool:
        """Was it ever defined."""
        return task in self.tasks or task in self.done.packed

    def is_done(self, task: TaskId) -> bool:
        """Is it done, a moment or a year ago."""
        known = self.tasks.get(task)
        return known.stage is Stage.DONE if known else task in self.done.packed

    def is_selected(self, task: TaskId) -> bool:
        """True if the current run may work on it. What a person wants undone belongs to every run."""
        if self.run is None or self.run.selection is None or task in self.run.selection:
            return True
        known = self.tasks.get(task)
        return known is not None and known.change.undo is not None
