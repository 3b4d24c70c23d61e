"""The routes about one task: its attempts, its causes, its change, its output."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.ui.attempt_files import attempt_file, located
from interlock.ui.attempt_ranges import MOST_BYTES, FilePart, read_part
from interlock.ui.plain import revealed
from interlock.ui.queries.attempts import (
    AttemptStory,
    TaskDocument,
    attempt_of,
    attempts_of,
    change_ends,
    is_at_work,
    task_document,
)
from interlock.ui.queries.explain import ExplainDocument, explain
from interlock.ui.queries.review import ReviewDocument, checks_of, review_document, review_of
from interlock.ui.queries.route import RouteDocument, route_document
from interlock.ui.queries.tasks import find, forecast_of, rows
from interlock.ui.reading import Reading, history
from interlock.ui.web.route import Ask
from interlock.ui.web.scopes import NotThere
from interlock.ui.words.sessions import decode, event_line

if TYPE_CHECKING:
    from interlock.events.record import Recorded

NOWHERE = Path(os.sep, "dev", "null")
"""Files are named by their whole path: the server may have been started anywhere."""
DIFF_CHARS = 512 * 1024
MOST_DIFF_CHARS = 4 * 1024 * 1024
Short = Annotated[str, Meta(max_length=200)]
Attempt = Annotated[int, Meta(ge=1, le=1_000_000)]
Position = Annotated[int, Meta(ge=0, le=1 << 53)]
Offset = Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)]


@dataclass(frozen=True, slots=True)
class OfTask:
    """A task, by its id or the beginning of it."""

    id: Short
    at: Position | None = None
    """The position of a fact: the task as it was right after it; without it, now."""


@dataclass(frozen=True, slots=True)
class OfChange:
    """The change of a task: as it landed, or as its newest or the named attempt made it."""

    id: Short
    attempt: Attempt | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_DIFF_CHARS)] = DIFF_CHARS
    at: Position | None = None


@dataclass(frozen=True, slots=True)
class OfLog:
    """A part of what an attempt left."""

    id: Short
    attempt: Attempt | None = None
    """The newest without it."""
    form: Literal["raw", "events", "calls", "prompt"] = "raw"
    """Output of the program, events of its session, calls of its model, or its prompt."""
    file: Annotated[str, Meta(max_length=4_096)] = ""
    """A log that the task's document names, such as that of a check; `form` does not count then."""
    offset: Offset = 0
    """Where to begin; below 0 from the end."""
    limit: Annotated[int, Meta(ge=1, le=MOST_BYTES)] = 64 * 1024


@dataclass(frozen=True, slots=True)
class ChangeDocument:
    """The change between two commits."""

    base: str
    commit: str
    diff: str
    cut: bool
    """True: the change is larger, and `interlock diff` shows all of it."""


@dataclass(frozen=True, slots=True)
class LogDocument:
    """A part of a log."""

    attempt: int
    size: int
    offset: int
    next: int
    text: str
    lines: list[str]
    """Of session events: each in words."""
    at_work: bool
    """True: the attempt goes on, and more may come."""


@dataclass(frozen=True, slots=True)
class Found:
    """A task and its facts."""

    reading: Reading
    task: TaskState
    facts: "list[Recorded]"
    stories: list[AttemptStory]


async def found(ask: Ask) -> Found:
    # An agent sees its own attempt, and that as it is now.
    at = None if ask.caller.attempt else getattr(ask.values, "at", None)
    reading = await ask.served.look()
    if at is not None:
        reading = await ask.served.past.moment(at)
    try:
        task = find(reading.state, ask.values.id)
    except UsageError as error:
        raise NotThere(str(error), error.hint) from None
    facts = await history(ask.served.log.store, task.spec.id)
    if own := ask.caller.attempt:  # an agent gets nothing of the attempts before its own
        facts = [row for row in facts if getattr(row.fact, "attempt", own) == own]
    if at is not None:
        facts = [row for row in facts if row.seq <= at]
    return Found(reading, task, facts, located(attempts_of(facts), ask.served.log.state_dir, NOWHERE))


def wanted_attempt(ask: Ask) -> int | None:
    """The attempt that is asked for; that of an agent, if an agent asks."""
    return ask.caller.attempt or ask.values.attempt


async def task(ask: Ask) -> TaskDocument:
    known = await found(ask)
    row = rows(known.reading, [known.task.spec.id])[0]
    found_now = task_document(known.task, row, known.stories, forecast_of(known.reading.state, known.task))
    if own := ask.caller.attempt:
        talk = known.task.talk
        requests = [each for each in found_now.requests if each["attempt"] == own]
        questions = [each for each in talk.questions if each.attempt == own]
        found_now = replace(found_now, requests=requests, questions=questions)
    return found_now


async def explanation(ask: Ask) -> ExplainDocument:
    known = await found(ask)
    causes = explain(known.reading, known.task, known.facts, known.stories)
    return ExplainDocument(known.task.spec.id, causes)


async def route(ask: Ask) -> RouteDocument:
    known = await found(ask)
    return route_document(known.reading.state, known.task, known.reading.now)


async def change(ask: Ask) -> ChangeDocument:
    known = await found(ask)
    base, commit = change_ends(known.task, known.stories, wanted_attempt(ask))
    repository = await ask.served.repository()
    diff = await repository.diff(base, commit)
    limit = ask.values.limit
    return ChangeDocument(base, commit, revealed(diff[:limit]), len(diff) > limit)


async def review(ask: Ask) -> ReviewDocument:
    known = await found(ask)
    opened = review_of(known.task)
    repository = await ask.served.repository()
    diff = await repository.diff(opened.base, opened.commit)
    checks = checks_of(known.facts, opened.commit)
    return review_document(known.reading, known.task, checks, revealed(diff))


async def log(ask: Ask) -> LogDocument:
    known, wanted = await found(ask), ask.values
    story = attempt_of(known.task, known.stories, wanted_attempt(ask))
    path = _named_file(known, wanted.file) if wanted.file else log_path(ask, known.task, story, wanted.form)
    part = read_part(path, ask.served.log.state_dir, wanted.offset, wanted.limit)
    is_events = wanted.form == "events" and not wanted.file
    return LogDocument(
        attempt=story.attempt,
        size=part.size,
        offset=part.offset,
        next=part.next,
        text=part.text,
        lines=_in_words(part) if is_events else [],
        at_work=is_at_work(known.task, story),
    )


def log_path(ask: Ask, task: TaskState, story: AttemptStory, form: str) -> Path:
    endings = {"raw": "log", "events": "events.jsonl", "calls": "model.jsonl", "prompt": "prompt.md"}
    usual = ask.served.log.state_dir / attempt_file(task.spec.id, story.attempt, endings[form])
    return Path(story.log) if form == "raw" and story.log else usual


def _named_file(known: Found, name: str) -> Path:
    """A file that the task's facts name; no other is read."""
    phases = [phase for story in known.stories for phase in story.phases]
    named = {phase.log for phase in phases} | {phase.notes for phase in phases}
    named |= {check.log for phase in phases for check in phase.checks}
    if name not in named:
        task = known.task.spec.id
        raise NotThere(f"no attempt of {task} names that file", f"interlock show {task}")
    return Path(name)


def _in_words(part: FilePart) -> list[str]:
    events = (decode(line) for line in part.text.splitlines())
    return [event_line(event) for event in events if event]
