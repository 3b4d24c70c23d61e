"""The status of all tasks, the run, its slots and main, as programs get it."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from interlock.engine.slots import Slots, slots_of
from interlock.events.baselines import known_failures, obstacle
from interlock.events.leases import holds_values
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.events.versions import Unknown
from interlock.model.durations import lasting
from interlock.model.failure import Symptom
from interlock.model.leases import offered
from interlock.model.outcome import CheckResult
from interlock.model.pool import TARGETS, PoolFigures, missed
from interlock.model.suite import Unable
from interlock.model.task import TaskId
from interlock.model.usage import Usage
from interlock.schedule import Board
from interlock.ui.queries.tasks import Bucket, TaskRow, buckets_of, rows
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import ReasonObject, reason_object, with_reasons
from interlock.ui.words.red_main import (
    broken_main,
    broken_text,
    culprit_object,
    mend_command,
    reverting,
)

if TYPE_CHECKING:  # what measures takes long to import
    from interlock.learn import Metrics


@dataclass(frozen=True, slots=True)
class PoolView:
    """The slots, and the figures of the run that was measured last."""

    slots: Slots
    figures: PoolFigures | None
    measured: float | None
    run: str | None
    targets: dict[str, float]
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RedCheck:
    """A check that fails on main."""

    command: str
    exit_code: int
    unable: Unable | None
    about: str | None
    failing_tests: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Frozen:
    """The reason why nothing but a fix or a revert lands."""

    checks: tuple[str, ...]
    since: float
    searching: bool
    """The commit to blame is still to be found."""
    culprit: dict[str, object] | None
    reverted_by: str | None
    text: str
    next: str


@dataclass(frozen=True, slots=True)
class MainView:
    """Main, and what is wrong with it."""

    branch: str
    commit: str | None
    red: tuple[RedCheck, ...]
    frozen: Frozen | None
    """None: anything may land."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The run that goes on, or the last one."""

    id: str
    live: bool
    limit: int
    seconds_to_go: float | None
    """None: it is over, or the time of some task is unknown."""
    started: float
    ended: float | None
    ended_why: ReasonObject | None
    stopping: bool
    sandbox: str | None
    selection: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class AlikeFailures:
    """A failure that several tasks share."""

    id: str
    what: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unstated:
    """Landed commits whose statement could not be written."""

    missing: int
    why: ReasonObject | None


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """A task that holds a value."""

    task: TaskId
    name: str
    """As `uses` names it."""
    value: str


@dataclass(frozen=True, slots=True)
class LeaseView:
    """Something that the graph declares below `leases`."""

    name: str
    count: int
    holders: tuple[LeaseHolder, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Everything about a project but its tasks."""

    running: int
    counts: dict[str, int]
    buckets: dict[Bucket, int]
    paused: bool
    pause_why: str
    pool: PoolView
    clutch: dict[str, object]
    main: MainView
    run: RunStatus | None
    leases: tuple[LeaseView, ...]
    overlaps: int
    usage: Usage
    alike: tuple[AlikeFailures, ...]
    statements: Unstated | None
    """None: there are none."""
    unknown: Unknown | None
    position: int
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusDocument(Frame):
    """The document of `interlock status`."""

    tasks: list[TaskRow]


def pool_view(reading: Reading, board: Board) -> PoolView:
    measured = reading.state.learned.pool
    return PoolView(
        slots=slots_of(reading.state, board, reading.is_live),
        figures=measured.figures if measured else None,
        measured=measured.time if measured else None,
        run=measured.run if measured else None,
        targets=TARGETS,
        missed=missed(measured.figures) if measured else (),
    )


def red_checks(state: State) -> tuple[RedCheck, ...]:
    return tuple(
        RedCheck(
            check.command,
            check.exit_code,
            check.unable,
            check.about or None,
            tuple(check.suite.failed) if check.suite else None,
        )
        for check in known_failures(state).values()
    )


def frozen(state: State) -> Frozen | None:
    """Why nothing but a fix or a revert lands; None if anything may."""
    if (broken := broken_main(state)) is None:
        return None
    return Frozen(
        checks=broken.commands,
        since=broken.since,
        searching=not broken.searched,
        culprit=culprit_object(broken.culprit),
        reverted_by=reverting(state) or None,
        text=broken_text(state),
        next=mend_command(state),
    )


def obstacles(state: State) -> list[CheckResult]:
    """The checks on main that hold tasks of the run back, each once."""
    tasks = (task for name, task in state.tasks.items() if not task.is_over and state.is_selected(name))
    found = (check for task in tasks if (check := obstacle(state, task)))
    return list({check.command: check for check in found}.values())


def alike_failures(state: State) -> list[tuple[Symptom, list[TaskId]]]:
    """Failures that several tasks share. Nothing has failed most of the time: then nothing is loaded."""
    if sum(bool(task.trouble.failures) for task in state.tasks.values()) < 2:
        return []
    from interlock.learn.errors import alike

    return alike(state)


def status_document(reading: Reading, eta: "Eta | None" = None) -> StatusDocument:
    board = Board(reading.state)
    found = rows(reading, board=board)
    around = frame(reading, board, found, eta or ETA)
    return StatusDocument(tasks=found, **{each.name: getattr(around, each.name) for each in fields(around)})


def frame(reading: Reading, board: Board, found: Iterable[TaskRow], eta: "Eta") -> Frame:
    """Everything about a project but its tasks. `found` are their rows; some of landed tasks may lack."""
    state = reading.state
    return Frame(
        running=len(state.index.running),
        counts={stage.value: state.index.counts.get(stage, 0) for stage in Stage},
        buckets={**buckets_of(found), "landed": state.index.counts.get(Stage.DONE, 0)},
        paused=state.limits.paused,
        pause_why=state.limits.pause_why,
        pool=pool_view(reading, board),
        clutch=clutch_object(state),
        main=MainView(state.main.branch, state.main.commit or None, red_checks(state), frozen(state)),
        run=run_status(reading, eta),
        leases=lease_views(state),
        overlaps=len(state.radar.live),
        usage=state.used,
        alike=tuple(AlikeFailures(seen.id, seen.line, tuple(names)) for seen, names in alike_failures(state)),
        statements=unstated(state),
        unknown=state.unknown,
        position=state.seq,
        time=reading.now,
    )


def lease_views(state: State) -> tuple[LeaseView, ...]:
    holders = [
        LeaseHolder(name, each.name, each.value)
        for name in sorted(state.index.leased)
        if holds_values(task := state.tasks[name])
        for each in task.session.leased
    ]
    return tuple(
        LeaseView(each.name, each.count, tuple(one for one in holders if offered(one.name) == each.name))
        for each in state.graph.leases
    )


def clutch_object(state: State) -> dict[str, object]:
    limits = {"categories": state.limits.categories, "providers": state.limits.providers}
    return {name: with_reasons(value) for name, value in limits.items()}


def run_status(reading: Reading, eta: "Eta") -> RunStatus | None:
    if (run := reading.state.run) is None:
        return None
    return RunStatus(
        id=run.run,
        live=reading.is_live,
        limit=run.limit,
        seconds_to_go=eta.seconds(reading.state, reading.now) if reading.is_live else None,
        started=run.started,
        ended=run.ended,
        ended_why=reason_object(run.ended_why) if run.ended_why else None,
        stopping=run.stopping,
        sandbox=run.sandbox or None,
        selection=None if run.selection is None else tuple(sorted(run.selection)),
    )


def unstated(state: State) -> Unstated | None:
    if state.unstated is None:
        return None
    why = state.unstated.why
    return Unstated(state.unstated.commits, reason_object(why) if why else None)


def summary_document(state: State, metrics: "Metrics", found: list[TaskRow], logs: str) -> dict[str, object]:
    sandbox = state.run.sandbox or None if state.run else None
    return {"metrics": metrics, "tasks": found, "logs": logs, "sandbox": sandbox}


AGAIN_SECONDS = 10.0
"""Interval at which the rest is estimated again if nothing happens."""
PAUSE_SECONDS = 2.0
"""The loop that starts agents waits meanwhile: not for every fact."""


class Eta:
    """Remembers what it found out."""

    def __init__(self) -> None:
        self._seq = -1
        self._at = 0.0
        self._ends: float | None = None

    def seconds(self, state: State, now: float) -> float | None:
        """Return the time until the last expected landing; None if the time of some task is unknown."""
        age = now - self._at
        if age > AGAIN_SECONDS or (self._seq != state.seq and age > PAUSE_SECONDS):
            from interlock.engine.foresight import remaining_seconds

            self._seq, self._at = state.seq, now
            left = remaining_seconds(state, now)
            self._ends = None if left is None else now + left
        return None if self._ends is None else max(0.0, self._ends - now)

    def text(self, state: State, now: float) -> str:
        """Return the rest as the end of a line; empty when no task is left."""
        left = self.seconds(state, now)
        if left is None:
            return "time left unknown"
        return f"about {lasting(left)} left" if left >= 1 else ""


ETA = Eta()
"""One for the whole command: a picture that is drawn four times a second asks it each time."""
