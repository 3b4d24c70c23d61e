"""Approve, reject and comment on changes that wait for review. Everything is checked before the first fact.

Only a person decides: the callers refuse an agent, and each fact names who wrote it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from interlock.engine.loading import catch_up
from interlock.engine.quote import quoted
from interlock.events.facts import ReviewApproved, ReviewCommented, ReviewRejected
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.events.task_parts import Comment, Review
from interlock.model.errors import UsageError
from interlock.model.task import PhaseKind
from interlock.store.protocol import Store
from interlock.ui.queries.review import review_of
from interlock.ui.reading import Reading

if TYPE_CHECKING:  # what starts git takes long to import
    from interlock.git.screening import Screening

MOST_CHARS = 4_000
FEEDBACK_CHARS = 40_000
"""With the diff of the change and the goal it still fits into one prompt."""
AROUND = 3
"""Lines shown before and after the line of a comment."""
LINE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a comment; without a path the whole change, with line 0 the whole file."""

    path: str = ""
    line: int = 0
    around: str = ""
    """That line with those around it, each with its number."""


def spot_of(text: str) -> Spot:
    """Read `FILE:LINE` or `FILE`."""
    path, colon, number = text.rpartition(":")
    if colon and number.isascii() and number.isdecimal():
        if not path or not int(number[:9]) >= 1 or len(number) > 9:
            raise UsageError(f"{text}: a line has a file and a number of at least 1", "write it as FILE:LINE")
        return Spot(path, int(number))
    return Spot(text)


def open_review(task: TaskState, digest: str = "") -> Review:
    """The review that a person may decide; `UsageError` if there is none, or not of the change `digest`."""
    review, made, name = task.change.review, task.change.candidate, task.spec.id
    is_here = task.stage in (Stage.WAITING, Stage.RUNNING) and task.phase.kind is PhaseKind.LAND
    if review is None or made is None or review.commit != made.commit or not is_here:
        raise UsageError(f"{name} does not wait for review", f"interlock explain {name}")
    if digest and not review.digest.startswith(digest):
        raise UsageError(f"the change of {name} is another one now", f"interlock review {name}")
    return review


async def approve(
    store: Store, reading: Reading, tasks: Sequence[TaskState], note: str, actor: str, digest: str = ""
) -> None:
    """Approve these changes, all or none. Brings the state up to date."""
    _check_text(note)
    facts = []
    for task in tasks:
        review, name = open_review(task, digest), task.spec.id
        if review.approved:
            raise UsageError(f"{review.by} has approved {name} already", f"interlock explain {name}")
        facts.append(ReviewApproved(name, review.digest, review.work, review.commit, note))
    await store.append(facts, actor)
    await catch_up(store, reading.state)
    for task in tasks:
        if not (task.stage is Stage.DONE or (task.change.review and task.change.review.approved)):
            raise _too_late(task)


async def reject(
    store: Store, reading: Reading, task: TaskState, note: str, actor: str, digest: str = ""
) -> None:
    """Send a change back to its agent, with the note and the comments. Brings the state up to date."""
    _check_text(note)
    review = open_review(task, digest)
    if not note and not review.comments:
        raise UsageError(
            "a rejection needs a reason: it is told to the next attempt",
            f'interlock reject {task.spec.id} -m "..."',
        )
    told = feedback(note, review.comments, actor.partition("@")[0])
    rejected = ReviewRejected(task.spec.id, review.digest, review.work, note, told)
    await store.append([rejected], actor)
    await catch_up(store, reading.state)
    if task.change.review is not None:
        raise _too_late(task)


async def comment(store: Store, reading: Reading, task: TaskState, spot: Spot, text: str, actor: str) -> None:
    """Add a comment to the review of a change. Brings the state up to date."""
    _check_text(text)
    if not text:
        raise UsageError("the comment is empty", f'interlock comment {task.spec.id} FILE:LINE "..."')
    review = open_review(task)
    where = (spot.path, spot.line, spot.around)
    await store.append([ReviewCommented(task.spec.id, review.digest, review.work, text, *where)], actor)
    await catch_up(store, reading.state)


def _too_late(task: TaskState) -> UsageError:
    name = task.spec.id
    return UsageError(f"{name} has moved on meanwhile, and was not decided", f"interlock explain {name}")


def _check_text(text: str) -> None:
    if len(text) > MOST_CHARS:
        raise UsageError(
            f"a note or comment has at most {MOST_CHARS} characters, this one has {len(text)}",
            "put longer texts into the task's goal",
        )


async def spot_in_change(screening: "Screening", task: TaskState, spot: Spot) -> Spot:
    """The place with its lines, as the change in review leaves the file."""
    content = await screening.read(review_of(task).commit, spot.path)
    if not content:
        touched = task.change.work.touched if task.change.work else ()
        hint = f"it changes {', '.join(touched[:3])}" if touched else "interlock review"
        raise UsageError(f"the change of {task.spec.id} has no text in a file {spot.path}", hint)
    return in_file(spot, content.decode("utf-8", "replace"))


def in_file(spot: Spot, content: str) -> Spot:
    """The place with its lines, as this content of the file has them."""
    if not spot.line:
        return spot
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if spot.line > len(lines):
        has = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
        raise UsageError(f"{spot.path} has {has}, and no line {spot.line}", "write it as FILE:LINE")
    first = max(1, spot.line - AROUND)
    shown = enumerate(lines[first - 1 : spot.line + AROUND], start=first)
    numbered = (f"{'>' if at == spot.line else ' '} {at:>5}  {text[:LINE_CHARS]}" for at, text in shown)
    return replace(spot, around="\n".join(numbered))


def feedback(note: str, comments: Iterable[Comment], by: str) -> str:
    """The note and the comments as the next agent reads them: quoted, with the file and the lines."""
    parts = [quoted(f"What {by} says about the change", note, MOST_CHARS)] if note else []
    for each in comments:
        place = f"{each.path}, line {each.line}" if each.line else each.path or "the whole change"
        lines = quoted(f"{place}, as the change leaves it", each.around, MOST_CHARS, "start")
        parts.append(lines + quoted(f"What {each.by} says about {place}", each.text, MOST_CHARS))
    told, left = "", 0
    for part in parts:
        if len(told) + len(part) > FEEDBACK_CHARS:
            left += 1
        else:
            told += part
    return f"{told}{left} more comments are left out.\n" if left else told
