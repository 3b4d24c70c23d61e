"""The life of a task as one table. If a move is not in it, it cannot happen.

Facts that have no row for the task's stage are kept in the log and ignored. `docs/reference/lifecycle.md` and
the tests are made from this table.
"""

from enum import StrEnum

from interlock.events.facts import (
    AgentExited,
    CandidateBuilt,
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
    PhasePassed,
    PhaseStarted,
    QuestionAnswered,
    QuestionAsked,
    SessionOpened,
    TaskAccepted,
    TaskCancelled,
    TaskFailed,
    TaskRemoved,
    TaskReset,
    TaskRetried,
)


class Stage(StrEnum):
    """Where a task is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REMOVED = "removed"


NEXT: dict[tuple[Stage, type[Fact]], Stage] = {
    (Stage.WAITING, TaskAccepted): Stage.WAITING,
    (Stage.WAITING, PhaseStarted): Stage.RUNNING,
    (Stage.WAITING, QuestionAnswered): Stage.WAITING,
    (Stage.WAITING, TaskReset): Stage.WAITING,
    (Stage.WAITING, TaskFailed): Stage.FAILED,
    (Stage.WAITING, TaskCancelled): Stage.CANCELLED,
    (Stage.WAITING, TaskRemoved): Stage.REMOVED,
    (Stage.RUNNING, TaskAccepted): Stage.RUNNING,
    (Stage.RUNNING, SessionOpened): Stage.RUNNING,
    (Stage.RUNNING, PermissionAsked): Stage.RUNNING,
    (Stage.RUNNING, AgentExited): Stage.RUNNING,
    (Stage.RUNNING, CandidateBuilt): Stage.RUNNING,
    (Stage.RUNNING, PhasePassed): Stage.WAITING,  # DONE after the last phase
    (Stage.RUNNING, CandidateStale): Stage.WAITING,
    (Stage.RUNNING, QuestionAsked): Stage.WAITING,
    (Stage.RUNNING, NoChangeNeeded): Stage.DONE,
    (Stage.RUNNING, PhaseFailed): Stage.WAITING,
    (Stage.RUNNING, PhaseLost): Stage.WAITING,
    (Stage.RUNNING, PhaseDeferred): Stage.WAITING,
    (Stage.RUNNING, TaskReset): Stage.WAITING,
    (Stage.RUNNING, TaskCancelled): Stage.CANCELLED,
    (Stage.RUNNING, TaskRemoved): Stage.REMOVED,
    (Stage.FAILED, TaskAccepted): Stage.WAITING,  # it was edited: worth a new try
    (Stage.FAILED, TaskRetried): Stage.WAITING,
    (Stage.FAILED, TaskReset): Stage.WAITING,
    (Stage.FAILED, TaskCancelled): Stage.CANCELLED,
    (Stage.FAILED, TaskRemoved): Stage.REMOVED,
    (Stage.CANCELLED, TaskAccepted): Stage.CANCELLED,
    (Stage.CANCELLED, TaskRetried): Stage.WAITING,
    (Stage.CANCELLED, TaskReset): Stage.WAITING,
    (Stage.CANCELLED, TaskRemoved): Stage.REMOVED,
    (Stage.REMOVED, TaskAccepted): Stage.WAITING,
    (Stage.DONE, TaskAccepted): Stage.DONE,
    # Main has moved, whatever a person said meanwhile: the log follows what is true.
    (Stage.WAITING, Landed): Stage.DONE,
    (Stage.RUNNING, Landed): Stage.DONE,
    (Stage.FAILED, Landed): Stage.DONE,
    (Stage.CANCELLED, Landed): Stage.DONE,
    (Stage.REMOVED, Landed): Stage.DONE,
    (Stage.WAITING, LandingSeen): Stage.DONE,
    (Stage.RUNNING, LandingSeen): Stage.DONE,
    (Stage.FAILED, LandingSeen): Stage.DONE,
    (Stage.CANCELLED, LandingSeen): Stage.DONE,
    (Stage.REMOVED, LandingSeen): Stage.DONE,
    (Stage.DONE, LandingLost): Stage.FAILED,
}


def next_stage(stage: Stage, kind: type[Fact]) -> Stage | None:
    """Where `kind` leads from `stage`; None when it changes nothing."""
    for ancestor in kind.__mro__:
        if (stage, ancestor) in NEXT:
            return NEXT[stage, ancestor]
    return None
