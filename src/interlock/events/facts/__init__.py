"""Everything that can have happened. Names are past tense; a result names what it is a result of.

Rules:
1. A fact is never edited. A new meaning is a new fact.
2. New fields get a default. Any other change raises the kind's version and adds an upcaster (`versions`).
3. Facts about a phase carry the epoch under which they were made; the fold ignores the rest.
"""

from interlock.events.facts.base import (
    Fact,
    PhaseFact,
    PhasePassed,
)
from interlock.events.facts.learned import (
    ClutchDecided,
    ExperienceGathered,
    LessonLearned,
    LessonRetired,
    LessonsOffered,
    NothingLearned,
    PoolMeasured,
    ProviderBraked,
    ScopeAnswered,
    ScopeRequested,
    TaskEstimated,
)
from interlock.events.facts.loop import (
    MainSeen,
    RunEnded,
    RunStarted,
    SetupBuilt,
    StateMoved,
)
from interlock.events.facts.people import (
    MessageDelivered,
    MessageSaid,
    Paused,
    PermissionAnswered,
    PlanAccepted,
    QuestionAnswered,
    StopRequested,
    TaskAccepted,
    TaskCancelled,
    TaskRemoved,
    TaskReset,
    TaskRetried,
    Unpaused,
)
from interlock.events.facts.phases import (
    AgentExited,
    BaseChecked,
    CanaryTried,
    CandidateBuilt,
    CandidateDropped,
    CandidatePassed,
    CandidateStale,
    Landed,
    LandingLost,
    LandingSeen,
    NoChangeNeeded,
    NotesSaved,
    PermissionAsked,
    PhaseDeferred,
    PhaseFailed,
    PhaseLost,
    PhaseStarted,
    QuestionAsked,
    SessionOpened,
    TaskFailed,
    WorkFinished,
    WorkspaceArchived,
)

__all__ = [
    "AgentExited",
    "BaseChecked",
    "CanaryTried",
    "CandidateBuilt",
    "CandidateDropped",
    "CandidatePassed",
    "CandidateStale",
    "ClutchDecided",
    "ExperienceGathered",
    "Fact",
    "Landed",
    "LandingLost",
    "LandingSeen",
    "LessonLearned",
    "LessonRetired",
    "LessonsOffered",
    "MainSeen",
    "MessageDelivered",
    "MessageSaid",
    "NoChangeNeeded",
    "NotesSaved",
    "NothingLearned",
    "Paused",
    "PermissionAnswered",
    "PermissionAsked",
    "PhaseDeferred",
    "PhaseFact",
    "PhaseFailed",
    "PhaseLost",
    "PhasePassed",
    "PhaseStarted",
    "PlanAccepted",
    "PoolMeasured",
    "ProviderBraked",
    "QuestionAnswered",
    "QuestionAsked",
    "RunEnded",
    "RunStarted",
    "ScopeAnswered",
    "ScopeRequested",
    "SessionOpened",
    "SetupBuilt",
    "StateMoved",
    "StopRequested",
    "TaskAccepted",
    "TaskCancelled",
    "TaskEstimated",
    "TaskFailed",
    "TaskRemoved",
    "TaskReset",
    "TaskRetried",
    "Unpaused",
    "WorkFinished",
    "WorkspaceArchived",
    "kinds",
]


def kinds() -> dict[str, type[Fact]]:
    """Every concrete fact by its name in the log."""
    abstract = (Fact, PhaseFact, PhasePassed)
    return {
        name: kind
        for name, kind in globals().items()
        if isinstance(kind, type) and issubclass(kind, Fact) and kind not in abstract
    }
