"""The runs of a log, and what each attempt did when: the bars of a timeline."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.ui.queries.attempts import Stories
from interlock.ui.queries.status import StatusDocument
from interlock.ui.words.facts import describe
from interlock.ui.words.reasons import ReasonObject, reason_object

MARKS = (
    "RunStarted",
    "RunEnded",
    "MainSeen",
    "Landed",
    "ClutchDecided",
    "Paused",
    "Unpaused",
    "TaskRetried",
    "TaskReset",
    "TaskCancelled",
    "TaskFailed",
    "QuestionAsked",
    "QuestionAnswered",
    "ReviewOpened",
    "ReviewApproved",
    "ReviewRejected",
    "Bumped",
    "StopRequested",
)
"""Kinds of facts that are a moment of a run by themselves."""
MOST_MARKS = 2_000
"""The newest; a run of a day has fewer."""


@dataclass(slots=True)
class RunMark:
    """One run, and where it is in the log."""

    number: int
    run: str
    first: int
    last: int
    started: float
    ended: float
    """The time of its last fact."""
    is_over: bool = False
    ended_why: ReasonObject | None = None


@dataclass(slots=True)
class Runs:
    """The runs as they are read from a log."""

    found: list[RunMark] = field(default_factory=list)

    def add(self, row: Recorded) -> None:
        if row.kind == f.RunStarted.__name__ and isinstance(fact := row.fact, f.RunStarted):
            self.found.append(RunMark(len(self.found) + 1, fact.run, row.seq, row.seq, row.time, row.time))
        if not self.found or self.found[-1].is_over:
            return
        run = self.found[-1]
        run.last, run.ended = row.seq, row.time
        if (
            row.kind == f.RunEnded.__name__
            and isinstance(fact := row.fact, f.RunEnded)
            and fact.run == run.run
        ):
            run.is_over = True
            run.ended_why = reason_object(fact.why) if fact.why else None

    def get(self, number: int) -> RunMark:
        """The run of this number; 0: the last one."""
        if not self.found or not 0 <= number <= len(self.found):
            raise UsageError(f"there is no run {number}", "interlock replay lists them all")
        return self.found[number - 1]


@dataclass(frozen=True, slots=True)
class Bar:
    """One phase of an attempt, from its start to its end."""

    attempt: int
    phase: str
    """`build` for an early check."""
    epoch: int
    agent: str
    started: float
    ended: float | None
    outcome: str
    text: str


@dataclass(frozen=True, slots=True)
class TimelineTask:
    """The bars of a task."""

    task: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of a run."""

    seq: int
    time: float
    kind: str
    task: str | None
    text: str


@dataclass(frozen=True, slots=True)
class TimelineDocument:
    """A run over time."""

    runs: list[RunMark]
    run: RunMark | None
    """The run that is shown; None: there was none yet."""
    tasks: list[TimelineTask]
    marks: list[Mark]
    expected: dict[str, float]
    """When the tasks that are left will probably end, in an active run."""
    seq: int
    time: float
    then: StatusDocument | None = None
    """Every task as it was right after the fact that was asked for."""


@dataclass(slots=True)
class Timeline:
    """The bars and marks of one run, as its facts are read."""

    tasks: dict[TaskId, Stories] = field(default_factory=dict)
    agents: dict[tuple[TaskId, int], str] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)

    def add(self, row: Recorded) -> None:
        fact = row.fact
        named = getattr(fact, "task", None)
        name = named if isinstance(named, str) else None
        if name:
            self.tasks.setdefault(TaskId(name), Stories()).add(row)
            if isinstance(fact, f.PhaseStarted) and fact.agent:
                self.agents[fact.task, fact.attempt] = fact.agent
        if row.kind in MARKS:
            self.marks.append(Mark(row.seq, row.time, row.kind, name or None, describe(fact)))
            del self.marks[:-MOST_MARKS]

    def rows(self) -> list[TimelineTask]:
        return [TimelineTask(name, tuple(self._bars(name, found))) for name, found in self.tasks.items()]

    def _bars(self, name: TaskId, found: Stories) -> Iterable[Bar]:
        for story in found.stories:
            agent = self.agents.get((name, story.attempt), "")
            for phase in story.phases:
                yield Bar(
                    attempt=story.attempt,
                    phase=phase.phase,
                    epoch=phase.epoch,
                    agent=agent,
                    started=phase.started,
                    ended=phase.ended,
                    outcome=phase.outcome,
                    text=phase.text or phase.why,
                )
