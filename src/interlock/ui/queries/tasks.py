"""Tasks as rows: where each stands, why, and what to type next. The same rows for people and programs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from interlock.events.finished import recall, unpacked
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.errors import UsageError
from interlock.model.evidence import Evidence
from interlock.model.forecast import Forecast
from interlock.model.nearest import find_task
from interlock.model.reason import Reason, Why
from interlock.model.task import Origin, PhaseKind, TaskId
from interlock.model.usage import Usage
from interlock.schedule import Board
from interlock.ui.reading import Reading, open_permissions
from interlock.ui.words.reasons import ReasonObject, as_read, in_words, reason_object
from interlock.ui.words.remedies import next_command

Bucket = Literal["train", "working", "needs_you", "ready", "blocked", "landed", "failed"]
"""The seven groups in which people count tasks."""
BUCKETS: tuple[Bucket, ...] = ("needs_you", "working", "train", "ready", "blocked", "failed", "landed")
READY = (Why.READY, Why.SLOTS, Why.ROLE_SLOTS, Why.CLUTCH)
"""Reasons of tasks that lack nothing but a free agent."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task as `status` shows it."""

    id: str
    state: str
    bucket: Bucket
    phase: str
    attempts: int
    reason: ReasonObject
    """Its code and fields, and the sentence in `text`."""
    next: str
    landed_commit: str | None
    evidence: Evidence | None
    """The evidence for its change; None: there is no change, or it was refused."""
    question: str | None
    """The question that it waits for a person to answer."""
    goal: str
    needs: tuple[str, ...]
    waits_for: tuple[str, ...]
    agent: str
    priority: int
    story: str
    category: str
    category_why: ReasonObject | None
    """`declared`, or what it was inferred from."""
    expected_seconds: float | None
    """None: nothing says how long it takes."""
    paused: bool
    selected: bool
    since: float
    busy_seconds: float
    origin: Origin
    parent: str | None
    usage: Usage
    """Usage of all its attempts, however they ended."""

    @property
    def text(self) -> str:
        return str(self.reason["text"])


ORDER = (Stage.RUNNING, Stage.FAILED, Stage.WAITING, Stage.CANCELLED, Stage.DONE)
"""Stages that need attention come first; removed tasks are not shown."""


def by_stage(state: State) -> dict[Stage, list[TaskId]]:
    """The tasks of the plan in the order they are shown, in the order of the graph within each stage."""
    found: dict[Stage, list[TaskId]] = {stage: [] for stage in ORDER}
    known = [(task.accepted, name, task.stage) for name, task in state.tasks.items()]
    known += [(task.accepted, name, Stage.DONE) for name, task in state.done.packed.items()]
    for _, name, stage in sorted(known):
        if stage in found:
            found[stage].append(name)
    return {stage: names for stage, names in found.items() if names}


def rows(
    reading: Reading, names: Iterable[TaskId] | None = None, board: Board | None = None
) -> list[TaskRow]:
    """These tasks, or all. With 10,000 of them a board takes a while: better pass on one that is there."""
    state = reading.state
    board = board or Board(state)
    if names is None:
        names = [name for members in by_stage(state).values() for name in members]
    tasks = (state.tasks.get(name) or unpacked(state, name) for name in names)
    return [row(reading, task, board.reason_of(task, reading.now)) for task in tasks]


def buckets_of(found: Iterable[TaskRow]) -> dict[Bucket, int]:
    """The number of tasks in each group, also where it is 0."""
    counts: dict[Bucket, int] = dict.fromkeys(BUCKETS, 0)
    for each in found:
        counts[each.bucket] += 1
    return counts


def tasks_document(reading: Reading, names: Iterable[TaskId]) -> dict[str, object]:
    return {"tasks": rows(reading, names), "time": reading.now}


def bucket_of(reading: Reading, task: TaskState, reason: Reason) -> Bucket:
    """The group of a task. `reason` is the board's, which knows nothing of the reader."""
    if task.stage is Stage.DONE:
        return "landed"
    if task.is_over:
        return "failed"
    asks = reading.is_live and open_permissions(task)
    if task.waits_for_person or task.queue.paused or asks:
        return "needs_you"
    if task.spec.id in reading.state.index.train:
        return "train"
    if task.stage is Stage.RUNNING:
        return "working" if task.phase.kind is PhaseKind.AGENT else "train"
    return "ready" if reason.code in READY else "blocked"


def row(reading: Reading, task: TaskState, reason: Reason) -> TaskRow:
    bucket, reason = bucket_of(reading, task, reason), as_read(reading, task, reason)
    spec, (category, category_why) = task.spec, category_of(task)
    return TaskRow(
        id=spec.id,
        state=task.stage.value,
        bucket=bucket,
        phase=task.phase.name,
        attempts=task.attempt,
        reason=reason_object(reason, in_words(reading, task, reason)),
        next=next_command(reading, task, reason),
        landed_commit=task.change.landed.commit if task.change.landed else None,
        evidence=task.evidence,
        question=task.asks.text if task.asks else None,
        goal=spec.goal,
        needs=spec.needs,
        waits_for=reason.tasks,
        agent=task.who.name,
        priority=spec.priority,
        story=spec.story,
        category=category,
        category_why=reason_object(category_why) if category_why else None,
        expected_seconds=task.expected_seconds if task.knows_seconds else None,
        paused=task.queue.paused,
        selected=reading.state.is_selected(spec.id),
        since=task.since,
        busy_seconds=task.spent.busy_seconds,
        origin=task.origin,
        parent=task.parent or None,
        usage=task.spent.usage,
    )


def find(state: State, text: str) -> TaskState:
    names = [name for name, task in state.tasks.items() if task.stage is not Stage.REMOVED or name == text]
    names += state.done.packed
    if not names:
        raise UsageError(f"there is no task `{text}`: no task graph has been run yet", "interlock run")
    name = find_task(text, names, "`interlock status` lists all tasks")
    recall(state, [name])
    return state.tasks[name]


def forecast_of(state: State, task: TaskState) -> Forecast:
    """The forecast in the log; before the first run, one that is made now."""
    if task.forecast:
        return task.forecast
    from interlock.learn.estimate import Estimator  # only before the first run

    return Estimator(state).forecast(task.spec)


def category_of(task: TaskState) -> tuple[str, Reason | None]:
    if task.forecast:
        return task.forecast.category, task.forecast.category_why
    from interlock.learn.categories import category  # only before the first run

    found = category(task.spec)
    return found.name, found.why
