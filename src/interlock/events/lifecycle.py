"""The life of a task as one table of stages and phases. If a move is not in it, it cannot happen.

Rules:
1. A task begins as waiting, in the first phase of its pipeline. The fold asks `next_move` for every change of
   its stage or phase, and nothing else changes them.
2. A fact without a row for where the task is stays in the log and changes nothing.
3. Rows name kinds of phases. Which phase comes next, and which one a failure goes back to, is in the pipeline
   of the task; after its last phase the task is done.

`docs/reference/lifecycle.md`, the picture in `docs/architecture.md` and the tests are made from this table.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from interlock.events.facts import (
    AgentExited,
    CandidateBuilt,
    CandidateJoined,
    CandidatePassed,
    CandidateStale,
    Fact,
    Landed,
    LandingLost,
    LandingSeen,
    NoChangeNeeded,
    PermissionAsked,
    PhaseDeferred,
    PhaseFailed,
    PhaseLost,
    PhaseStarted,
    PullRequestOpened,
    PullRequestSeen,
    QuestionAnswered,
    QuestionAsked,
    ReviewApproved,
    ReviewCommented,
    ReviewOpened,
    ReviewReceived,
    ReviewRejected,
    SessionOpened,
    TaskAccepted,
    TaskCancelled,
    TaskFailed,
    TaskProposed,
    TaskRemoved,
    TaskReopened,
    TaskReset,
    TaskRetried,
    TaskUndone,
    WorkFinished,
)
from interlock.model.task import Phase, PhaseKind


class Stage(StrEnum):
    """Stage of a task."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REMOVED = "removed"


class Go(StrEnum):
    """The phase that a move leads to, as seen from the one that the task is in."""

    HERE = "the same phase"
    AGAIN = "the same phase, from its beginning"
    ON = "the next phase"
    BACK = "the phase that failures go back to"
    FIRST = "the first phase"
    END = "the end"


class Row(NamedTuple):
    """A row of the table: from a stage, in these kinds of phases, a fact leads to a stage and a phase."""

    stage: Stage
    kinds: tuple[PhaseKind, ...]
    fact: type[Fact]
    to: Stage
    go: Go = Go.HERE


class Destination(NamedTuple):
    """The stage and phase that a move leads to."""

    stage: Stage
    phase_index: int
    begins: bool = False
    """The phase begins again: it is dated from now."""


_ANY = tuple(PhaseKind)
_AGENT, _CHECK, _LAND = ((kind,) for kind in PhaseKind)

TABLE: tuple[Row, ...] = (
    Row(Stage.WAITING, _ANY, TaskAccepted, Stage.WAITING),
    Row(Stage.WAITING, _ANY, PhaseStarted, Stage.RUNNING),
    Row(Stage.WAITING, _ANY, QuestionAnswered, Stage.WAITING, Go.AGAIN),
    Row(Stage.WAITING, _ANY, TaskReset, Stage.WAITING, Go.FIRST),
    Row(Stage.WAITING, _ANY, TaskFailed, Stage.FAILED),
    Row(Stage.WAITING, _ANY, TaskCancelled, Stage.CANCELLED),
    Row(Stage.WAITING, _ANY, TaskRemoved, Stage.REMOVED),
    Row(Stage.RUNNING, _ANY, TaskAccepted, Stage.RUNNING),
    Row(Stage.RUNNING, _AGENT, SessionOpened, Stage.RUNNING),
    Row(Stage.RUNNING, _AGENT, PermissionAsked, Stage.RUNNING),
    Row(Stage.RUNNING, _AGENT, TaskProposed, Stage.RUNNING),
    Row(Stage.RUNNING, _AGENT, AgentExited, Stage.RUNNING),
    Row(Stage.RUNNING, _AGENT, WorkFinished, Stage.WAITING, Go.ON),
    Row(Stage.RUNNING, _AGENT, QuestionAsked, Stage.WAITING, Go.AGAIN),
    Row(Stage.RUNNING, (*_AGENT, *_CHECK), NoChangeNeeded, Stage.DONE, Go.END),
    Row(Stage.RUNNING, _CHECK, CandidateBuilt, Stage.RUNNING),
    Row(Stage.RUNNING, _CHECK, CandidatePassed, Stage.WAITING, Go.ON),
    Row(Stage.RUNNING, _CHECK, CandidateJoined, Stage.WAITING, Go.ON),
    Row(Stage.WAITING, _CHECK, CandidateJoined, Stage.WAITING, Go.ON),  # under the claim of the last of them
    Row(Stage.RUNNING, _CHECK, CandidateStale, Stage.WAITING, Go.AGAIN),
    Row(Stage.RUNNING, _LAND, CandidateStale, Stage.WAITING, Go.BACK),
    Row(Stage.RUNNING, _LAND, PullRequestOpened, Stage.WAITING),
    Row(Stage.WAITING, _LAND, PullRequestSeen, Stage.WAITING),
    Row(Stage.WAITING, _LAND, CandidateStale, Stage.WAITING, Go.BACK),  # of a pull request
    Row(Stage.WAITING, _LAND, ReviewReceived, Stage.WAITING, Go.FIRST),
    Row(Stage.RUNNING, _LAND, ReviewOpened, Stage.WAITING),
    Row(Stage.RUNNING, _LAND, ReviewApproved, Stage.RUNNING),  # while a new run looks again if it is needed
    Row(Stage.RUNNING, _LAND, ReviewCommented, Stage.RUNNING),
    Row(Stage.WAITING, _LAND, ReviewApproved, Stage.WAITING),
    Row(Stage.WAITING, _LAND, ReviewCommented, Stage.WAITING),
    Row(Stage.WAITING, _LAND, ReviewRejected, Stage.WAITING, Go.FIRST),
    Row(Stage.RUNNING, _ANY, PhaseFailed, Stage.WAITING, Go.BACK),
    Row(Stage.RUNNING, _ANY, PhaseLost, Stage.WAITING),
    Row(Stage.RUNNING, _ANY, PhaseDeferred, Stage.WAITING),
    Row(Stage.RUNNING, _ANY, TaskReset, Stage.WAITING, Go.FIRST),
    Row(Stage.RUNNING, _ANY, TaskCancelled, Stage.CANCELLED),
    Row(Stage.RUNNING, _ANY, TaskRemoved, Stage.REMOVED),
    Row(Stage.FAILED, _ANY, TaskAccepted, Stage.WAITING, Go.FIRST),  # it was edited: worth a new try
    Row(Stage.FAILED, _ANY, TaskRetried, Stage.WAITING, Go.FIRST),
    Row(Stage.FAILED, _ANY, TaskReset, Stage.WAITING, Go.FIRST),
    Row(Stage.FAILED, _ANY, TaskCancelled, Stage.CANCELLED),
    Row(Stage.FAILED, _ANY, TaskRemoved, Stage.REMOVED),
    Row(Stage.CANCELLED, _ANY, TaskAccepted, Stage.CANCELLED),
    Row(Stage.CANCELLED, _ANY, TaskRetried, Stage.WAITING, Go.FIRST),
    Row(Stage.CANCELLED, _ANY, TaskReset, Stage.WAITING, Go.FIRST),
    Row(Stage.CANCELLED, _ANY, TaskRemoved, Stage.REMOVED),
    Row(Stage.REMOVED, _ANY, TaskAccepted, Stage.WAITING, Go.FIRST),
    Row(Stage.DONE, _ANY, TaskAccepted, Stage.DONE),
    # Main has moved, even if a person cancelled the task meanwhile: the log follows what is true.
    *(
        Row(stage, _ANY, fact, Stage.DONE, Go.END)
        for fact in (Landed, LandingSeen)
        for stage in Stage
        if stage is not Stage.DONE
    ),
    Row(Stage.DONE, _ANY, LandingLost, Stage.FAILED),
    Row(Stage.DONE, _ANY, TaskUndone, Stage.CANCELLED, Go.FIRST),
    Row(Stage.DONE, _ANY, TaskReopened, Stage.WAITING, Go.FIRST),
)

MOVES: dict[tuple[Stage, PhaseKind, type[Fact]], tuple[Stage, Go]] = {
    (row.stage, kind, row.fact): (row.to, row.go) for row in TABLE for kind in row.kinds
}


def next_move(stage: Stage, pipeline: Sequence[Phase], index: int, fact: type[Fact]) -> Destination | None:
    """Return where `fact` leads from a stage and a phase; None when it changes nothing."""
    here = min(index, len(pipeline) - 1)
    if (move := MOVES.get((stage, pipeline[here].kind, fact))) is None:
        return None
    to, go = move
    match go:
        case Go.ON:
            return Destination(to if here + 1 < len(pipeline) else Stage.DONE, here + 1)
        case Go.BACK:
            back = pipeline[here].back_to or pipeline[here].name
            return Destination(to, _index_of(pipeline, back), True)
        case Go.FIRST:
            return Destination(to, 0, True)
        case Go.END:
            return Destination(to, len(pipeline))
        case _:
            return Destination(to, index, go is Go.AGAIN)


def _index_of(pipeline: Sequence[Phase], name: str) -> int:
    """The position of a phase; the beginning, for one that is not in the pipeline."""
    return next((i for i, phase in enumerate(pipeline) if phase.name == name), 0)
