"""The merge train as a document: the changes in their order, what they are tested on, and those sent back."""

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build
from interlock.events.task_parts import Candidate
from interlock.model.task import PhaseKind, TaskId
from interlock.train.lane import chances_to_hold
from interlock.train.speculation import Stack
from interlock.ui.queries.queue_checks import Begun, QueueCheck, checks_of
from interlock.ui.queries.tasks import rows
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import ReasonObject, reason_text

SENT_BACK_KEPT = 20


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A finished change that is not on main yet."""

    place: int
    task: str
    state: str
    """`landing`, `checking` (on main), `building` (early), `built` (passed early), `failed-early`, `held`,
    `in-review` or `waiting`."""
    on: tuple[str, ...]
    """The changes of the train that it is tested on top of; none: main alone."""
    base: str | None
    """The commit of main below all of them; None: it is not tested yet, or was tested on an older one."""
    tree: str | None
    """The merged tree that its checks see on main."""
    holds: float | None
    """Chance that the changes in `on` land, and no other before it; None: it is tested on main alone."""
    checks: tuple[QueueCheck, ...]
    conflicts: tuple[str, ...]
    """Paths on which it conflicts with the changes in `on`."""
    held: bool
    """A person keeps it back. While it is `checking`, that goes on."""
    attempt: int
    since: float
    """The time at which it joined the train, or got into its state."""
    files: int
    """Number of files that it edits."""
    reason: ReasonObject
    """Why it is not on main yet, with a sentence in `text`."""
    lands_in_seconds: float | None
    """Expected time until it lands, from `time` on; None: it is not known, or no run is active."""


@dataclass(frozen=True, slots=True)
class SentBack:
    """A change that was refused or dropped: its task is to try again, has failed, or is cancelled."""

    task: str
    attempt: int
    state: str
    text: str
    error: str | None
    """The kind of its failure; None: a person dropped it."""
    command: str | None
    """The check that failed."""
    since: float
    """The time at which its task got into this state."""
    log: str


@dataclass(frozen=True, slots=True)
class QueueView:
    """The merge train at one moment."""

    live: bool
    main: str
    queue: tuple[QueueRow, ...]
    sent_back: tuple[SentBack, ...]
    """The newest last."""
    time: float


def queue_view(reading: Reading, begun: Mapping[str, Begun]) -> QueueView:
    """The train. `begun` is what the output files say of the checks that run (`checks_begun`)."""
    state = reading.state
    names = list(state.index.train)
    ends = _expected_ends(reading) if names else {}
    chances = chances_to_hold(state, reading.now)
    queue = []
    for place, (name, row) in enumerate(zip(names, rows(reading, names), strict=True), start=1):
        task = state.tasks[name]
        how, build = _standing(state, task)
        ahead = build.ahead if build else ()
        queue.append(
            QueueRow(
                place=place,
                task=name,
                state=how,
                on=ahead,
                base=_base(task, build),
                tree=_tree(task),
                holds=chances.get(Stack(name, ahead)) if ahead else None,
                checks=checks_of(state, task, build, begun),
                conflicts=build.conflicts if build else (),
                held=task.queue.paused,
                attempt=task.attempt,
                since=task.since,
                files=len(task.change.work.touched) if task.change.work else 0,
                reason=row.reason,
                lands_in_seconds=None if task.held_up else ends.get(name),
            )
        )
    return QueueView(reading.is_live, state.main.commit, tuple(queue), _sent_back(state), reading.now)


def _expected_ends(reading: Reading) -> dict[TaskId, float]:
    if not reading.is_live:
        return {}
    from interlock.engine.foresight import expected_ends  # takes long to import

    return expected_ends(reading.state, reading.now)


def _standing(state: State, task: TaskState) -> tuple[str, Build | None]:
    if task.in_review:
        return "in-review", None
    if task.phase.kind is PhaseKind.LAND:
        return "landing", None
    if task.stage is Stage.RUNNING:
        return "checking", None
    if task.queue.paused:
        return "held", None
    builds: list[Build] = [*state.builds.running.values(), *reversed(state.builds.ended)]
    for build in builds:
        if build.task == task.spec.id and build.main == state.main.commit:
            return _BUILDS[build.passed], build
    return "waiting", None


_BUILDS = {None: "building", True: "built", False: "failed-early"}


def _base(task: TaskState, build: Build | None) -> str | None:
    if build:
        return build.main
    made = _tested(task)
    return made.base if made else None


def _tree(task: TaskState) -> str | None:
    made = _tested(task)
    return made.tree if made else None


def _tested(task: TaskState) -> Candidate | None:
    """Return the commit on main that is being checked, or has passed."""
    if task.phase.kind is PhaseKind.LAND:
        return task.change.candidate
    return task.change.built if task.stage is Stage.RUNNING else None


def _sent_back(state: State) -> tuple[SentBack, ...]:
    found = [
        (task.since, gone)
        for name, task in state.tasks.items()
        if name not in state.index.train and (gone := _dropped(task) or _refused(task))
    ]
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0])[-SENT_BACK_KEPT:])


def _refused(task: TaskState) -> SentBack | None:
    failure = task.trouble.failures[-1] if task.trouble.failures else None
    if failure is None or task.stage in (Stage.DONE, Stage.REMOVED):
        return None
    if task.spec.pipeline[task.spec.phase_index(failure.phase)].kind is PhaseKind.AGENT:
        return None
    return SentBack(
        task=task.spec.id,
        attempt=failure.attempt,
        state=task.stage.value,
        text=reason_text(failure.why),
        error=failure.error.value,
        command=failure.command or None,
        since=task.since,
        log=failure.log,
    )


def _dropped(task: TaskState) -> SentBack | None:
    """A person cancelled it when its change was finished."""
    if task.stage is not Stage.CANCELLED or task.change.work is None or task.phase.kind is PhaseKind.AGENT:
        return None
    text = reason_text(task.why)
    return SentBack(task.spec.id, task.attempt, task.stage.value, text, None, None, task.since, "")
