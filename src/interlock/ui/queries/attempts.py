"""A task's attempts, put together from its facts: what each phase did, said and left behind."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields

from interlock.events import facts as f
from interlock.events.asked import Question, ScopeRequest
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.events.task_parts import Candidate
from interlock.learn.drift import Drift, drift_of
from interlock.model.errors import UsageError
from interlock.model.forecast import Forecast
from interlock.model.outcome import WAITS, CheckResult, Resolved
from interlock.model.reason import Reason, Why
from interlock.model.task import PhaseKind, Task
from interlock.model.unwanted import LeftOut
from interlock.model.usage import Usage
from interlock.ui.queries.tasks import TaskRow
from interlock.ui.words.reasons import reason_object, reason_text, start_text, with_reasons


@dataclass(slots=True)
class PhaseStory:
    """One claimed phase, from its start to whatever ended it."""

    phase: str
    epoch: int
    started: float
    why: str
    outcome: str = "running"
    text: str = ""
    ended: float | None = None
    began_seq: int = 0
    """The fact that began it, by its number in the log."""
    ended_seq: int = 0
    """The fact that ended it; 0: none yet."""
    log: str = ""
    commit: str = ""
    base: str = ""
    archived: str = ""
    notes: str = ""
    """The file with notes on the agent's session, relative to the state folder."""
    said: str = ""
    touched: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    """Files of its merged tree in which both sides clashed."""
    error: str = ""
    usage: Usage | None = None
    """The usage of its agent; None: unknown."""
    reason: dict[str, object] | None = None
    """The reason for its start, as data."""
    end_reason: dict[str, object] | None = None
    """The reason for which it failed, was lost or was postponed, as data."""
    agent_reason: dict[str, object] | None = None
    """The reason for its agent, as data; None if there was no choice."""
    together: bool = False
    """It was carried out under the claim of another task, with whose change this one passed as one."""


@dataclass(slots=True)
class AttemptStory:
    """One try at a task."""

    attempt: int
    phases: list[PhaseStory] = field(default_factory=list)

    @property
    def commit(self) -> str:
        return next((p.commit for p in self.phases if p.phase == self.phases[0].phase and p.commit), "")

    @property
    def only_waited(self) -> bool:
        """True if the model was unavailable, and nothing else happened."""
        return bool(self.phases) and all(phase.error in WAITS for phase in self.phases)

    @property
    def log(self) -> str:
        return next((p.log for p in self.phases if p.phase == self.phases[0].phase and p.log), "")


def in_groups(stories: Iterable[AttemptStory]) -> list[list[AttemptStory]]:
    """Each attempt by itself; those that only waited for the model together with those next to them."""
    groups: list[list[AttemptStory]] = []
    for story in stories:
        if groups and story.only_waited and groups[-1][-1].only_waited:
            groups[-1].append(story)
        else:
            groups.append([story])
    return groups


BUILD = "build"
"""The name of a build among the phases of an attempt."""

OUTCOMES: dict[type[f.Fact], str] = {
    f.WorkFinished: "passed",
    f.CandidatePassed: "passed",
    f.CandidateJoined: "passed",
    f.Landed: "landed",
    f.PullRequestOpened: "proposed",
    f.ReviewOpened: "in review",
    f.CandidateStale: "stale",
    f.PhaseFailed: "failed",
    f.QuestionAsked: "asked",
    f.NoChangeNeeded: "done",
    f.PhaseLost: "lost",
    f.PhaseDeferred: "deferred",
}


class Stories:
    """The attempts of one task, as its facts are read."""

    def __init__(self) -> None:
        self._found: dict[int, AttemptStory] = {}

    @property
    def stories(self) -> list[AttemptStory]:
        return list(self._found.values())

    def add(self, row: Recorded) -> None:
        stories, fact = self._found, row.fact
        if isinstance(fact, f.PhaseStarted):
            story = stories.setdefault(fact.attempt, AttemptStory(fact.attempt))
            story.phases.append(_begin(fact, row))
        elif isinstance(fact, f.CandidateBuilt) and fact.attempt in stories:
            _build(stories[fact.attempt], fact)
        elif isinstance(fact, f.BuildStarted) and stories:
            list(stories.values())[-1].phases.append(_begin_build(fact, row))
        elif isinstance(fact, f.BuildEnded):
            _end_build(stories.values(), fact, row)
        elif type(fact) in OUTCOMES and isinstance(fact, f.PhaseFact) and fact.attempt in stories:
            _end(stories[fact.attempt], fact, row)
        elif isinstance(fact, f.TaskReset | f.TaskCancelled | f.TaskRemoved):
            _take_away(stories.values(), row)
        elif isinstance(fact, f.NotesSaved) and fact.attempt in stories:
            phase = stories[fact.attempt].phases[0]
            phase.notes, phase.said = fact.path, fact.summary
        elif isinstance(fact, f.WorkspaceArchived) and fact.attempt in stories:
            phase = stories[fact.attempt].phases[-1]
            phase.archived, phase.usage = fact.ref, fact.usage or phase.usage


def attempts_of(history: Iterable[Recorded]) -> list[AttemptStory]:
    found = Stories()
    for row in history:
        found.add(row)
    return found.stories


def _begin(fact: f.PhaseStarted, row: Recorded) -> PhaseStory:
    reason = reason_object(fact.why) if fact.why else None
    agent_reason = reason_object(fact.agent_why) if fact.agent_why else None
    return PhaseStory(
        fact.phase,
        fact.epoch,
        row.time,
        start_text(fact),
        began_seq=row.seq,
        reason=reason,
        agent_reason=agent_reason,
    )


def _begin_build(fact: f.BuildStarted, row: Recorded) -> PhaseStory:
    reason, why = reason_object(fact.why) if fact.why else None, reason_text(fact.why)
    return PhaseStory(BUILD, fact.epoch, row.time, why, began_seq=row.seq, base=fact.main, reason=reason)


def _end_build(stories: Iterable[AttemptStory], fact: f.BuildEnded, row: Recorded) -> None:
    for phase in (phase for story in stories for phase in story.phases):
        if phase.ended is None and (phase.phase, phase.epoch) == (BUILD, fact.epoch):
            is_green = not fact.conflicts and all(check.passed for check in fact.checks)
            phase.outcome = "ended" if fact.why else "passed" if is_green else "failed"
            phase.text = reason_text(fact.why or (_conflict(fact) if fact.conflicts else None))
            phase.ended, phase.ended_seq, phase.checks = row.time, row.seq, fact.checks
            phase.end_reason = reason_object(fact.why) if fact.why else None


def _conflict(fact: f.BuildEnded) -> Reason:
    return Reason(Why.CONFLICT_IN_QUEUE, {"paths": fact.conflicts})


def _build(story: AttemptStory, fact: f.CandidateBuilt) -> None:
    """Note the commit that the checks of a phase run on."""
    for phase in story.phases:
        if phase.ended is None and (phase.phase, phase.epoch) == (fact.phase, fact.epoch):
            phase.commit, phase.base = fact.commit, fact.base


def _end(story: AttemptStory, fact: f.PhaseFact, row: Recorded) -> None:
    """Close the phase this fact is about. Late news finds no open phase and changes nothing."""
    still_open = [p for p in story.phases if p.ended is None and p.phase == fact.phase]
    phase = next((p for p in still_open if p.epoch == fact.epoch), None)
    if isinstance(fact, f.Landed | f.CandidateJoined):
        phase = still_open[-1] if still_open else _under_other_claim(story, fact, row)
    if phase is None:
        return
    phase.outcome, phase.ended, phase.ended_seq = OUTCOMES[type(fact)], row.time, row.seq
    built = (phase.commit, phase.base)
    for name in ("log", "base", "archived", "touched", "checks", "left_out", "resolved"):
        setattr(phase, name, getattr(fact, name, getattr(phase, name)))
    phase.commit = getattr(fact, "commit", None) or ""
    phase.text = getattr(fact, "summary", "") or getattr(fact, "text", "")
    phase.error = getattr(fact, "error", "")
    phase.usage = getattr(fact, "usage", None) or phase.usage
    if isinstance(fact, f.ReviewOpened):
        phase.text = reason_text(fact.why)
    elif isinstance(fact, f.CandidateJoined) and fact.joined:
        phase.text = _together(fact.task, fact.joined.tasks)
    elif isinstance(fact, f.CandidateStale):
        phase.text = reason_text(fact.why or Reason(Why.MAIN_MOVED, {"commit": fact.main}))
    elif isinstance(fact, f.PhaseFailed | f.PhaseLost | f.PhaseDeferred):
        # The fact names the agent's commit, for its next attempt; the checks ran on the one that was built.
        phase.commit, phase.base = built if built[0] else (phase.commit, phase.base)
        phase.text = reason_text(fact.why)
        phase.end_reason = reason_object(fact.why) if fact.why else None


def _together(task: str, tasks: Sequence[str]) -> str:
    return reason_text(Reason(Why.TOGETHER, {"tasks": tuple(tasks), "task": task}))


def _under_other_claim(story: AttemptStory, fact: f.Landed | f.CandidateJoined, row: Recorded) -> PhaseStory:
    """Begin a phase that has no start: under the claim of another task, or in a run that ended before it
    recorded a landing."""
    words = "it was found on main"
    if isinstance(fact, f.CandidateJoined) and fact.joined:
        words = _together(fact.task, fact.joined.tasks)
    elif story.phases and story.phases[-1].together:
        words = story.phases[-1].why
    phase = PhaseStory(fact.phase, fact.epoch, row.time, words, began_seq=row.seq)
    phase.together = isinstance(fact, f.CandidateJoined)
    story.phases.append(phase)
    return phase


def _take_away(stories: Iterable[AttemptStory], row: Recorded) -> None:
    outcome = {"TaskReset": "reset", "TaskCancelled": "cancelled"}.get(row.kind, "removed")
    for story in stories:
        for phase in story.phases:
            if phase.ended is None:
                phase.outcome, phase.ended, phase.ended_seq = outcome, row.time, row.seq


def change_ends(task: TaskState, stories: list[AttemptStory], attempt: int | None) -> tuple[str, str]:
    """The two commits between which the change of a task is: as it landed, or as an attempt made it."""
    name = task.spec.id
    if attempt is None and task.change.landed:
        return task.change.landed.ends
    made = [story for story in stories if story.commit and attempt in (None, story.attempt)]
    if made:
        story = made[-1]
        # The parent if the attempt failed before it recorded what it started from.
        base = next((phase.base for phase in story.phases if phase.base), f"{story.commit}~1")
        return base, story.commit
    if attempt is not None and attempt not in [story.attempt for story in stories]:
        raise UsageError(f"{name} has no attempt {attempt}", f"`interlock show {name}` lists its attempts")
    raise UsageError(
        f"{name} has no change yet" if attempt is None else f"attempt {attempt} of {name} made no change",
        f"interlock explain {name}",
    )


def is_at_work(task: TaskState, story: AttemptStory) -> bool:
    """True while the agent of this attempt works."""
    is_agent = task.phase.kind is PhaseKind.AGENT
    return task.stage is Stage.RUNNING and is_agent and task.attempt == story.attempt


@dataclass(frozen=True, slots=True)
class TaskDocument:
    """The document of `interlock show`."""

    task: TaskRow
    spec: Task
    forecast: dict[str, object]
    attempts: list[AttemptStory]
    landed: Candidate | None
    drift: dict[str, object] | None
    scope: tuple[str, ...]
    requests: list[dict[str, object]]
    questions: list[Question]


def task_document(
    found: TaskState, row: TaskRow, stories: list[AttemptStory], forecast: Forecast
) -> TaskDocument:
    return TaskDocument(
        task=row,
        spec=found.spec,
        forecast=_object(forecast),
        attempts=stories,
        landed=found.change.landed,
        drift=drift_document(drift_of(found)),
        scope=found.session.scope,
        requests=[_object(request) for request in found.talk.requests],
        questions=found.talk.questions,
    )


def _object(value: Forecast | ScopeRequest) -> dict[str, object]:
    return {each.name: with_reasons(getattr(value, each.name)) for each in fields(value)}


def attempt_of(task: TaskState, stories: list[AttemptStory], attempt: int | None) -> AttemptStory:
    """The attempt that is asked for, or the newest."""
    name = task.spec.id
    if not stories:
        raise UsageError(f"{name} has not started yet", f"`interlock explain {name}` says why")
    for story in stories:
        if story.attempt == attempt:
            return story
    if attempt is not None:
        raise UsageError(f"{name} has no attempt {attempt}", f"`interlock show {name}` lists its attempts")
    return stories[-1]


def drift_document(drift: Drift | None) -> dict[str, object] | None:
    return {**asdict(drift), "precision": drift.precision, "recall": drift.recall} if drift else None
