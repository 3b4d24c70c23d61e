"""The routes that show something: parameters, and the queries that answer."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Raw

from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.ui.attempt_files import located
from interlock.ui.queries.agents import AgentRow
from interlock.ui.queries.attempts import TaskDocument, attempts_of, task_document
from interlock.ui.queries.inbox import InboxDocument, Item, inbox_document
from interlock.ui.queries.queue import QueueView
from interlock.ui.queries.radar import RadarDocument
from interlock.ui.queries.status import Frame
from interlock.ui.queries.tasks import TaskRow, find, forecast_of, rows
from interlock.ui.reading import Reading, history
from interlock.ui.web.route import Ask
from interlock.ui.web.scopes import NotThere
from interlock.ui.web.wire import encoded

NOWHERE = Path(os.sep, "dev", "null")
"""Files are named by their whole path: the server may have been started anywhere."""
Short = Annotated[str, Meta(max_length=200)]


@dataclass(frozen=True, slots=True)
class After:
    """Where a stream begins."""

    after: Short = ""
    """The `cursor` of a snapshot or an event. A browser that comes back names it in `Last-Event-ID`."""


@dataclass(frozen=True, slots=True)
class OfTask:
    """A task, by its id or the beginning of it."""

    id: Short


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a page shows at first."""

    cursor: str
    """Where the stream goes on."""
    seq: int
    """The newest fact that is in it."""
    time: float
    """The log's clock."""
    project: str
    frame: Frame
    tasks: list[TaskRow]
    agents: list[AgentRow]
    inbox: list[Item]
    queue: QueueView
    radar: RadarDocument


@dataclass(frozen=True, slots=True)
class Gone:
    """What is no longer there."""

    tasks: list[str]
    agents: list[str]


@dataclass(frozen=True, slots=True)
class Change:
    """The `change` events of the stream: what is different since the cursor in `after`."""

    cursor: str
    after: str
    seq: int
    time: float
    project: str
    tasks: list[TaskRow]
    """Only those that changed."""
    agents: list[AgentRow]
    gone: Gone
    frame: Frame | None = None
    """None, or not there: it did not change."""
    inbox: list[Item] | None = None
    queue: QueueView | None = None
    radar: RadarDocument | None = None


async def snapshot(ask: Ask) -> object:
    return Raw(encoded(await ask.site.feed(ask.project).snapshot()))


def _find(reading: Reading, name: str) -> TaskState:
    try:
        return find(reading.state, name)
    except UsageError as error:
        raise NotThere(str(error), error.hint) from None


async def task(ask: Ask) -> TaskDocument:
    reading = await ask.served.look()
    found = _find(reading, ask.values.id)
    facts = await history(ask.served.log.store, found.spec.id)
    stories = located(attempts_of(facts), ask.served.log.state_dir, NOWHERE)
    row = rows(reading, [found.spec.id])[0]
    return task_document(found, row, stories, forecast_of(reading.state, found))


async def inbox(ask: Ask) -> InboxDocument:
    return inbox_document(await ask.served.look())
