"""The matrix of changes under way: which of them conflict with each other or with main, and where."""

from dataclasses import dataclass

from interlock.events.radar import is_flying, is_queued
from interlock.events.state_parts import LiveOverlap
from interlock.model.task import TaskId
from interlock.ui.reading import Reading


@dataclass(frozen=True, slots=True)
class RadarRow:
    """One change under way."""

    task: TaskId
    is_running: bool
    """False: it is finished and waits in the train."""


@dataclass(frozen=True, slots=True)
class RadarView:
    """All of them, and their overlaps, the oldest first."""

    is_live: bool
    policy: str
    """The answer of the run to overlaps; empty: it does not look for any."""
    rows: tuple[RadarRow, ...]
    overlaps: tuple[LiveOverlap, ...]
    now: float


def radar_view(reading: Reading) -> RadarView:
    state = reading.state
    names = sorted(state.index.running | state.index.train.keys())
    tasks = [state.tasks[name] for name in names]
    rows = [RadarRow(task.spec.id, is_flying(task)) for task in tasks if is_flying(task) or is_queued(task)]
    live = sorted(state.radar.live.values(), key=lambda each: each.seq)
    policy = state.run.radar if state.run else ""
    return RadarView(reading.is_live, policy, tuple(rows), tuple(live), reading.now)


@dataclass(frozen=True, slots=True)
class OverlapObject:
    """An overlap for programs."""

    task: str
    attempt: int
    other: str | None
    """None: main."""
    other_attempt: int | None
    paths: tuple[str, ...]
    count: int
    since: float


@dataclass(frozen=True, slots=True)
class FlyingTask:
    """A change under way for programs."""

    task: str
    running: bool


@dataclass(frozen=True, slots=True)
class RadarDocument:
    """The document of `interlock radar`."""

    live: bool
    policy: str | None
    tasks: tuple[FlyingTask, ...]
    overlaps: tuple[OverlapObject, ...]
    time: float


def radar_document(view: RadarView) -> RadarDocument:
    return RadarDocument(
        live=view.is_live,
        policy=view.policy or None,
        tasks=tuple(FlyingTask(row.task, row.is_running) for row in view.rows),
        overlaps=tuple(
            OverlapObject(
                task=each.task,
                attempt=each.attempt,
                other=each.other or None,
                other_attempt=each.other_attempt or None,
                paths=each.paths,
                count=each.count,
                since=each.since,
            )
            for each in view.overlaps
        ),
        time=view.now,
    )
