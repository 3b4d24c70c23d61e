"""The runs of a log, and what each attempt did when: the bars of a timeline."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.errors import UsageError
from interlock.model.task import Phase, TaskId
from interlock.ui.queries.attempts import BUILD, Stories
from interlock.ui.queries.graph import longest_chain
from interlock.ui.reading import Reading
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
    kind: str
    """`agent`, `check` or `land`; `build` for an early check."""
    epoch: int
    agent: str
    started: float
    ended: float | None
    outcome: str
    text: str


@dataclass(frozen=True, slots=True)
class TimelineTask:
    """A task of a run over time."""

    task: str
    needs: tuple[str, ...]
    accepted: float
    """Time at which it came into the plan."""
    ready: float | None
    """Time at which the last of its needs had landed; None: one of them has not."""
    landed: float | None
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
    critical: tuple[str, ...]
    """The tasks that decide when the run ends, or ended: each needs the one before it."""
    marks: list[Mark]
    expected: dict[str, float]
    """The time at which each change in the train will probably land, in an active run."""
    seq: int
    time: float


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


NOT_LANDED = (f.LandingLost, f.TaskUndone, f.TaskReopened)


@dataclass(slots=True)
class Plan:
    """The time at which each task was accepted, its needs, and the time at which it landed."""

    accepted: dict[TaskId, float] = field(default_factory=dict)
    needs: dict[TaskId, tuple[TaskId, ...]] = field(default_factory=dict)
    pipelines: dict[TaskId, tuple[Phase, ...]] = field(default_factory=dict)
    landed: dict[TaskId, float] = field(default_factory=dict)

    def add(self, row: Recorded) -> None:
        fact = row.fact
        if isinstance(fact, f.TaskAccepted):
            self.accepted.setdefault(fact.task.id, row.time)
            self.needs[fact.task.id] = fact.task.needs
            self.pipelines[fact.task.id] = fact.task.pipeline
        elif isinstance(fact, f.Landed | f.LandingSeen | f.NoChangeNeeded):
            self.landed.setdefault(fact.task, row.time)
        elif isinstance(fact, NOT_LANDED):
            self.landed.pop(fact.task, None)
        elif isinstance(fact, f.TaskRemoved):
            for known in (self.accepted, self.needs, self.pipelines, self.landed):
                known.pop(fact.task, None)

    def row(self, name: TaskId, found: Timeline) -> TimelineTask:
        accepted, needs = self.accepted.get(name, 0.0), self.needs.get(name, ())
        landed = [time for need in needs if (time := self.landed.get(need)) is not None]
        ready = max([accepted, *landed]) if len(landed) == len(needs) else None
        return TimelineTask(
            name, needs, accepted, ready, self.landed.get(name), tuple(self._bars(name, found))
        )

    def _bars(self, name: TaskId, found: Timeline) -> Iterable[Bar]:
        kinds = {phase.name: phase.kind.value for phase in self.pipelines.get(name, ())}
        for story in found.tasks[name].stories if name in found.tasks else ():
            agent = found.agents.get((name, story.attempt), "")
            for phase in story.phases:
                yield Bar(
                    attempt=story.attempt,
                    phase=phase.phase,
                    kind=kinds.get(phase.phase, BUILD),
                    epoch=phase.epoch,
                    agent=agent,
                    started=phase.started,
                    ended=phase.ended,
                    outcome=phase.outcome,
                    text=phase.text or phase.why,
                )


def timeline_rows(plan: Plan, run: RunMark, found: Timeline) -> list[TimelineTask]:
    """The tasks of a run: those that did something in it, and those that might have, as the plan has them."""
    waited = [
        name
        for name, accepted in plan.accepted.items()
        if accepted <= run.ended and plan.landed.get(name, run.started) >= run.started
    ]
    return [plan.row(name, found) for name in dict.fromkeys([*waited, *found.tasks])]


def timeline_document(
    sums: "RunsAndPlan", run: RunMark | None, found: Timeline, reading: Reading, expected: Mapping[str, float]
) -> TimelineDocument:
    """A run over time. `expected`: when changes will probably land."""
    is_on = run is not None and is_going_on(sums.runs, run, reading)
    left = seconds_left(reading.state) if is_on else {}
    return TimelineDocument(
        runs=sums.runs.found,
        run=run,
        tasks=timeline_rows(sums.plan, run, found) if run else [],
        critical=critical_path(sums.plan, run, left) if run else (),
        marks=found.marks,
        expected=dict(expected),
        seq=reading.state.seq,
        time=reading.now,
    )


def is_going_on(runs: Runs, run: RunMark, reading: Reading) -> bool:
    return reading.is_live and run is runs.found[-1] and not run.is_over


class RunsAndPlan(Protocol):
    """The facts about all runs."""

    @property
    def runs(self) -> Runs: ...
    @property
    def plan(self) -> Plan: ...


def seconds_left(state: State) -> dict[TaskId, float]:
    """The tasks that are not over, with the time that each one takes as far as it is known."""
    return {
        name: task.expected_seconds if task.knows_seconds else 0.0
        for name, task in state.tasks.items()
        if not task.is_over and state.is_selected(name)
    }


def critical_path(plan: Plan, run: RunMark, left: Mapping[TaskId, float]) -> tuple[TaskId, ...]:
    """The chain of needs that decides about the end of a run: the longest of what is left, after what landed.

    `left`: the tasks of a run that goes on; none: it is over, and the chain ends with its last landing.
    """
    landed = {name: at for name, at in plan.landed.items() if run.started <= at <= run.ended}
    path = list(longest_chain(plan.needs, left))
    if not path and landed:
        path = [max(landed, key=landed.__getitem__)]
    while path and (done := [need for need in plan.needs.get(path[0], ()) if need in landed]):
        before = max(done, key=landed.__getitem__)
        if before in path:
            break  # needs in a circle, of a log that says so
        path.insert(0, before)
    return tuple(path)
