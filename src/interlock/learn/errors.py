"""Failures that are one and the same, wherever they happen (A6): who has them, since when, what ended them.

The log is read once, and only the facts that matter here are decoded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded, Unreadable
from interlock.events.state import State
from interlock.model.failure import DIGITS, Symptom, normalised, symptom
from interlock.model.failure_words import failure_text
from interlock.model.outcome import WAITS
from interlock.model.provider import provider_of
from interlock.model.reason import Reason, Why
from interlock.model.task import TaskId

WAIT, LOST, PUT_OFF = "wait", "lost", "put-off"
PASSING = frozenset({WAIT, LOST, PUT_OFF})
"""Errors that say nothing about a task; the next phase that succeeds ends them."""
HAD_AGAIN = "continued by itself"
OVER = frozenset({Stage.DONE, Stage.CANCELLED, Stage.REMOVED})


@dataclass(slots=True)
class Case:
    """One time that it happened."""

    task: TaskId
    attempt: int
    phase: str
    time: float
    summary: str
    log: str = ""
    ended: str = ""
    """The way the task got past it; '' while it has not."""


@dataclass(slots=True)
class FailureGroup:
    """One failure, with all its cases."""

    id: str
    error: str
    what: str
    """The line that tells it, without what differs from one time to the next."""
    example: str = ""
    """That line as it was printed the first time."""
    cases: list[Case] = field(default_factory=list)
    lesson: str = ""
    """Id of the lesson that was learned from it."""

    @property
    def tasks(self) -> tuple[TaskId, ...]:
        return tuple(dict.fromkeys(case.task for case in self.cases))

    @property
    def open(self) -> tuple[TaskId, ...]:
        return tuple(dict.fromkeys(case.task for case in self.cases if not case.ended))

    @property
    def endings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"{case.task} {case.ended}" for case in self.cases if case.ended))


@dataclass(slots=True)
class Errors:
    """Failures as they are read from a log, grouped."""

    state: State
    """The folded log, at its end."""
    words: Callable[[Reason], str] = repr
    """Makes the sentence for a reason."""
    found: dict[str, FailureGroup] = field(default_factory=dict)
    open: dict[TaskId, list[tuple[FailureGroup, Case]]] = field(default_factory=dict)
    """Failures that a task still has."""
    agents: dict[TaskId, str] = field(default_factory=dict)
    retried: set[TaskId] = field(default_factory=set)
    lessons: dict[str, str] = field(default_factory=dict)
    known: dict[tuple[str, str], Symptom] = field(default_factory=dict)
    """Symptoms by fingerprint: most failures of a long log were seen before."""
    seen: set[tuple[TaskId, int, str, int]] = field(default_factory=set)

    def add(self, row: Recorded) -> None:
        read = _READ.get(row.kind)
        if read and not isinstance(fact := row.fact, Unreadable) and self._is_known(fact):
            read(self, fact, row.time)

    def _is_known(self, fact: f.Fact) -> bool:
        task = getattr(fact, "task", None)
        return task is None or task in self.state.tasks

    def troubles(self) -> list[FailureGroup]:
        """All of them: open ones first, then those of most tasks, then the latest."""
        for trouble in self.found.values():
            trouble.lesson = self.lessons.get(trouble.id, "")
        return sorted(
            self.found.values(), key=lambda one: (not one.open, -len(one.tasks), -one.cases[-1].time, one.id)
        )


def _failed(errors: Errors, fact: f.PhaseFailed, time: float) -> None:
    key = (fact.task, fact.attempt, fact.phase, fact.epoch)
    if key in errors.seen:
        return  # a fact may stand twice in the log
    errors.seen.add(key)
    case = Case(fact.task, fact.attempt, fact.phase, time, failure_text(fact.why), fact.log)
    if fact.error in WAITS:
        provider = _provider(errors, fact.task)
        said = f"the model of {provider} was unavailable"
        _keep(errors, _named(WAIT, said, case.summary), WAIT, case)
        return
    _end(errors, fact.task, HAD_AGAIN, waits_only=True)
    _keep(errors, _symptom(errors, fact), fact.error.value, case)


def _symptom(errors: Errors, fact: f.PhaseFailed) -> Symptom:
    key = (fact.error.value, fact.fingerprint or fact.feedback)
    if key not in errors.known:
        errors.known[key] = symptom(fact.error, fact.why, fact.feedback)
    return errors.known[key]


def _provider(errors: Errors, task: TaskId) -> str:
    spec = errors.state.tasks[task].spec
    agent = spec.agent_named(errors.agents.get(task, spec.agent.name))
    return provider_of(agent) or agent.name


def _interrupted(errors: Errors, fact: f.PhaseLost | f.PhaseDeferred, time: float) -> None:
    if fact.why is None or fact.why.code != Why.STOPPED:
        error = LOST if isinstance(fact, f.PhaseLost) else PUT_OFF
        text = errors.words(fact.why) if fact.why else ""
        case = Case(fact.task, fact.attempt, fact.phase, time, text)
        _keep(errors, _named(error, normalised(text), text), error, case)


def _named(error: str, line: str, example: str) -> Symptom:
    return Symptom(sha256(f"{error}\0{line}".encode()).hexdigest()[:DIGITS], line, example)


def _keep(errors: Errors, seen: Symptom, error: str, case: Case) -> None:
    trouble = errors.found.setdefault(seen.id, FailureGroup(seen.id, error, seen.line, seen.example))
    trouble.cases.append(case)
    errors.open.setdefault(case.task, []).append((trouble, case))


def _end(errors: Errors, task: TaskId, how: str, waits_only: bool = False) -> None:
    """The task is past what it met, or past what kept it waiting."""
    left = []
    for trouble, case in errors.open.pop(task, ()):
        if waits_only and trouble.error not in PASSING:
            left.append((trouble, case))
        else:
            case.ended = how
    if left:
        errors.open[task] = left


def _opened(errors: Errors, fact: f.SessionOpened, _time: float) -> None:
    errors.agents[fact.task] = fact.agent


def _finished(errors: Errors, fact: f.WorkFinished, _time: float) -> None:
    _end(errors, fact.task, HAD_AGAIN, waits_only=True)


def _landed(errors: Errors, fact: f.Landed, _time: float) -> None:
    after = " after a person gave it new attempts" if fact.task in errors.retried else ""
    _end(errors, fact.task, f"landed in attempt {fact.attempt}{after}")
    errors.retried.discard(fact.task)


def _taken_up(errors: Errors, fact: f.TaskRetried | f.TaskReset, _time: float) -> None:
    errors.retried.add(fact.task)


def _given_up(errors: Errors, fact: f.TaskCancelled | f.TaskRemoved, _time: float) -> None:
    how = "was cancelled" if isinstance(fact, f.TaskCancelled) else "left the plan"
    _end(errors, fact.task, how)


def _learned(errors: Errors, fact: f.LessonLearned, _time: float) -> None:
    errors.lessons[fact.lesson.fingerprint] = fact.lesson.id


# Any: each function takes the one kind of fact it is listed under.
_READ: Mapping[str, Callable[[Errors, Any, float], None]] = {
    "PhaseFailed": _failed,
    "PhaseLost": _interrupted,
    "PhaseDeferred": _interrupted,
    "SessionOpened": _opened,
    "WorkFinished": _finished,
    "Landed": _landed,
    "TaskRetried": _taken_up,
    "TaskReset": _taken_up,
    "TaskCancelled": _given_up,
    "TaskRemoved": _given_up,
    "LessonLearned": _learned,
}


def alike(state: State) -> list[tuple[Symptom, list[TaskId]]]:
    """Tasks whose last failure is the same one, and that are not past it: two or more, the most first."""
    groups: dict[Symptom, list[TaskId]] = {}
    for name, task in state.tasks.items():
        if task.trouble.failures and task.stage not in OVER:
            last = task.trouble.failures[-1]
            groups.setdefault(symptom(last.error, last.why, last.feedback), []).append(name)
    return sorted(
        ((seen, names) for seen, names in groups.items() if len(names) > 1), key=lambda pair: -len(pair[1])
    )
