"""Changes that wait for review, and all that a reviewer looks at, as documents."""

from dataclasses import dataclass

from interlock.events.facts import CandidatePassed
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.events.task_parts import Comment, Review
from interlock.model.errors import UsageError
from interlock.model.evidence import Evidence
from interlock.model.outcome import CheckResult
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import reason_object

DIFF_CHARS = 1 << 20
"""The most characters of a diff in a document."""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A change that waits for review."""

    task: str
    goal: str
    digest: str
    """The change that an approval is for."""
    base: str
    commit: str
    reason: dict[str, object]
    """Why it needs a person, with a sentence in `text`."""
    files: int
    lines: int | None
    """Lines that it adds and removes; None: a file of it is no text."""
    evidence: Evidence | None
    comments: tuple[Comment, ...]
    since: float
    next: tuple[str, ...]


def in_review(reading: Reading) -> list[TaskState]:
    """The tasks whose changes wait for review, the one that waits longest first."""
    found = [task for task in reading.state.tasks.values() if task.in_review]
    return sorted(found, key=lambda task: (_since(task), task.spec.id))


def _since(task: TaskState) -> float:
    return task.in_review.since if task.in_review else 0.0


def review_of(task: TaskState) -> Review:
    """The last review of a task's change; `UsageError` if it had none."""
    if task.change.review is None:
        raise UsageError(f"{task.spec.id} does not wait for review", f"interlock explain {task.spec.id}")
    return task.change.review


def review_row(task: TaskState) -> ReviewRow:
    review, made, name = review_of(task), task.change.candidate or task.change.landed, task.spec.id
    lines = made.lines if made else 0
    work = task.change.work
    return ReviewRow(
        name,
        task.spec.goal,
        review.digest,
        review.base,
        review.commit,
        reason_object(review.why) if review.why else {},
        len(work.touched) if work else 0,
        None if lines < 0 else lines,
        task.evidence,
        review.comments,
        review.since,
        commands_for(name),
    )


def commands_for(name: str) -> tuple[str, ...]:
    return (f"interlock review {name}", f"interlock approve {name}", f'interlock reject {name} -m "..."')


@dataclass(frozen=True, slots=True)
class ReviewsDocument:
    """The document of `interlock review`."""

    reviews: list[ReviewRow]
    time: float


def reviews_document(reading: Reading) -> ReviewsDocument:
    return ReviewsDocument([review_row(task) for task in in_review(reading)], reading.now)


def checks_of(history: list[Recorded], commit: str) -> tuple[CheckResult, ...]:
    """The checks that ran on a tested commit."""
    facts = (row.fact for row in reversed(history))
    passed = (fact for fact in facts if isinstance(fact, CandidatePassed) and fact.commit == commit)
    return next((fact.checks for fact in passed), ())


@dataclass(frozen=True, slots=True)
class ReviewDocument:
    """The document of `interlock review TASK`."""

    review: ReviewRow
    waits: bool
    approved_by: str | None
    checks: tuple[CheckResult, ...]
    diff: str
    diff_cut: bool
    time: float


def review_document(
    reading: Reading, task: TaskState, checks: tuple[CheckResult, ...], diff: str
) -> ReviewDocument:
    """One change with its evidence and its diff."""
    review = review_of(task)
    return ReviewDocument(
        review=review_row(task),
        waits=task.in_review is not None,
        approved_by=review.by if review.approved else None,
        checks=checks,
        diff=diff[:DIFF_CHARS],
        diff_cut=len(diff) > DIFF_CHARS,
        time=reading.now,
    )
