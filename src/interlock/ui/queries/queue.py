"""The merge train as a document: the changes in their order, what they are tested on, and those sent back."""

from dataclasses import dataclass

from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build
from interlock.model.task import PhaseKind, TaskId
from interlock.ui.queries.tasks import rows
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import reason_text

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
    reason: dict[str, object]
    """Why it is not on main yet, with a sentence in `text`."""
    lands_in_seconds: float | None
    """Expected time until it lands; None: it is not known, or no run is active."""


@dataclass(frozen=True, slots=True)
class SentBack:
    """A change that was refused: its task has another attempt before it, or has failed."""

    task: str
    attempt: int
    state: str
    text: str
    log: str


@dataclass(frozen=True, slots=True)
class QueueView:
    """The merge train at one moment."""

    live: bool
    main: str
    queue: tuple[QueueRow, ...]
    sent_back: tuple[SentBack, ...]


def queue_view(reading: Reading) -> QueueView:
    state = reading.state
    names = list(state.index.train)
    ends = _expected_ends(reading) if names else {}
    queue = tuple(
        QueueRow(place, name, *_standing(state, state.tasks[name]), row.reason, ends.get(name))
        for place, (name, row) in enumerate(zip(names, rows(reading, names), strict=True), start=1)
    )
    return QueueView(reading.is_live, state.main.commit, queue, _sent_back(state))


def _expected_ends(reading: Reading) -> dict[TaskId, float]:
    if not reading.is_live:
        return {}
    from interlock.engine.foresight import expected_ends  # takes long to import

    return expected_ends(reading.state, reading.now)


def _standing(state: State, task: TaskState) -> tuple[str, tuple[str, ...]]:
    if task.in_review:
        return "in-review", ()
    if task.phase.kind is PhaseKind.LAND:
        return "landing", ()
    if task.stage is Stage.RUNNING:
        return "checking", ()
    if task.queue.paused:
        return "held", ()
    builds: list[Build] = [*state.builds.running.values(), *reversed(state.builds.ended)]
    for build in builds:
        if build.task == task.spec.id and build.main == state.main.commit:
            return _BUILDS[build.passed], build.ahead
    return "waiting", ()


_BUILDS = {None: "building", True: "built", False: "failed-early"}


def _sent_back(state: State) -> tuple[SentBack, ...]:
    found = []
    for name, task in state.tasks.items():
        failure = task.trouble.failures[-1] if task.trouble.failures else None
        if failure is None or name in state.index.train or task.stage in (Stage.DONE, Stage.REMOVED):
            continue
        pipeline = task.spec.pipeline
        if pipeline[task.spec.phase_index(failure.phase)].kind is not PhaseKind.AGENT:
            text = reason_text(failure.why)
            found.append((task.since, SentBack(name, failure.attempt, task.stage.value, text, failure.log)))
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0])[-SENT_BACK_KEPT:])
