"""The tools of a person's editor or agent: the command line's queries and actions, in that person's name.

No agent of a run gets these: `interlock mcp` refuses to start inside an attempt, and its sandbox shows
neither the log nor the settings.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec

from interlock.engine.project import Project
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.model.task import Origin, OriginKind
from interlock.store.protocol import Store
from interlock.ui.actions.proposals import accept_proposal, decline_proposal, find_proposal
from interlock.ui.actions.review import approve, reject
from interlock.ui.actions.runs import start_run
from interlock.ui.actions.talk import answer_permissions, answer_question
from interlock.ui.actions.tasks import add_task, retry, stop_run
from interlock.ui.mcp.tools import Nothing, Tool
from interlock.ui.queries.attempts import attempts_of
from interlock.ui.queries.explain import explain
from interlock.ui.queries.inbox import inbox_document
from interlock.ui.queries.review import checks_of, review_document, review_of
from interlock.ui.queries.status import status_document
from interlock.ui.queries.tasks import by_stage, find, rows
from interlock.ui.reading import Reading, history
from interlock.ui.words.facts import with_numbers

INSTRUCTIONS = """\
Interlock runs many coding agents on this git repository and lands only what passes its checks. `inbox` \
lists what waits for the person you work for. Answer, accept, retry and stop only as that person says."""
DIFF_CHARS = 30_000
LISTED_MOST = 60
"""Tasks of one answer: a model reads all of it."""


class ToolScope(StrEnum):
    """What a client may do."""

    READ = "read"
    ACT = "act"
    DECIDE = "decide"
    """Also what only a person may decide: the client must ask that person each time."""


class Log(Protocol):
    """An opened project, as readers need it."""

    @property
    def store(self) -> Store: ...


@dataclass(frozen=True, slots=True)
class Access:
    """The ways to a project, and the person in whose name it is used."""

    folder: Path
    log: Callable[[], AbstractAsyncContextManager[Log]]
    project: Callable[[], AbstractAsyncContextManager[Project]]
    read: Callable[[Store], Awaitable[Reading]]
    actor: str


class Filter(msgspec.Struct, forbid_unknown_fields=True):
    state: str = ""


class OneTask(msgspec.Struct, forbid_unknown_fields=True):
    task: str


class NewTask(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    goal: str
    needs: list[str] = []
    touches: list[str] = []
    done_when: list[str] = []
    agent: str = ""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    task: str
    text: str


class Retry(msgspec.Struct, forbid_unknown_fields=True):
    task: str
    note: str = ""


class Approve(msgspec.Struct, forbid_unknown_fields=True):
    task: str
    digest: str


class Reject(msgspec.Struct, forbid_unknown_fields=True):
    task: str
    why: str


class Proposal(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    decline: bool = False


class PeopleTools:
    """The functions behind the tools."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def status(self, given: Filter) -> object:
        async with self._access.log() as log:
            reading = await self._access.read(log.store)
        document = status_document(reading)
        names = [
            name
            for stage, members in by_stage(reading.state).items()
            for name in members
            if given.state in ("", stage.value)
        ]
        listed = [
            {"id": row.id, "state": row.state, "why": row.text, "next": row.next}
            for row in rows(reading, names[:LISTED_MOST])
        ]
        about = {"counts": document.counts, "main": document.main, "run": document.run}
        return {"tasks": listed, "of": len(names), **about}

    async def explain(self, given: OneTask) -> object:
        async with self._access.log() as log:
            reading = await self._access.read(log.store)
            task = find(reading.state, given.task)
            facts = await history(log.store, task.spec.id)
        causes = explain(reading, task, facts, attempts_of(facts))
        return "\n".join(f"{'  ' * cause.depth}{with_numbers(cause.text, cause.facts)}" for cause in causes)

    async def inbox(self, _: Nothing) -> object:
        async with self._access.log() as log:
            return inbox_document(await self._access.read(log.store))

    async def run(self, _: Nothing) -> object:
        return await start_run(self._access.folder, self._is_live)

    async def _is_live(self) -> bool:
        async with self._access.log() as log:
            return (await self._access.read(log.store)).is_live

    async def stop(self, _: Nothing) -> object:
        async with self._access.log() as log:
            reading = await self._access.read(log.store)
            return {"stopping": await stop_run(log.store, reading, "", self._access.actor)}

    async def add_task(self, given: NewTask) -> object:
        from interlock.plan.added import Wish

        lists = (tuple(given.needs), tuple(given.touches), tuple(given.done_when))
        wish = Wish(given.id, given.goal, *lists, agent=given.agent)
        async with self._access.project() as project:
            state = (await self._access.read(project.store)).state
            origin = Origin(OriginKind.PERSON, self._access.actor)
            return {"added": (await add_task(project, state, wish, origin, self._access.actor)).id}

    async def answer(self, given: Answer) -> object:
        async with self._access.log() as log:
            reading, task = await self._found(log, given.task)
            if task.asks:
                await answer_question(log.store, task, given.text, self._access.actor)
            else:
                await answer_permissions(log.store, reading, task, given.text, self._access.actor)
        return {"answered": task.spec.id, "live": reading.is_live}

    async def retry(self, given: Retry) -> object:
        async with self._access.log() as log:
            reading, task = await self._found(log, given.task)
            await retry(log.store, [task], given.note, self._access.actor)
        return {"retried": task.spec.id, "live": reading.is_live}

    async def review(self, given: OneTask) -> object:
        async with self._access.project() as project:
            reading = await self._access.read(project.store)
            task = find(reading.state, given.task)
            found = review_of(task)
            checks = checks_of(await history(project.store, task.spec.id), found.commit)
            diff = await project.repository.diff(found.base, found.commit)
        if len(diff) > DIFF_CHARS:
            diff = f"{diff[:DIFF_CHARS]}\n(the rest is left out: interlock review {task.spec.id})"
        return review_document(reading, task, checks, diff)

    async def approve(self, given: Approve) -> object:
        if not given.digest:
            raise UsageError("the digest says which change was looked at", "call the tool `review` first")
        async with self._access.log() as log:
            reading, task = await self._found(log, given.task)
            await approve(log.store, reading, [task], "", self._access.actor, given.digest)
        return {"approved": task.spec.id, "live": reading.is_live}

    async def reject(self, given: Reject) -> object:
        async with self._access.log() as log:
            reading, task = await self._found(log, given.task)
            await reject(log.store, reading, task, given.why, self._access.actor)
        return {"rejected": task.spec.id, "live": reading.is_live}

    async def accept(self, given: Proposal) -> object:
        async with self._access.project() as project:
            state = (await self._access.read(project.store)).state
            parent, made = find_proposal(state, given.id)
            if given.decline:
                await decline_proposal(project.store, parent, made, self._access.actor)
                return {"declined": made.id}
            return {"added": (await accept_proposal(project, state, parent, made, self._access.actor)).id}

    async def _found(self, log: Log, name: str) -> tuple[Reading, TaskState]:
        reading = await self._access.read(log.store)
        return reading, find(reading.state, name)


def people_tools(access: Access, scope: ToolScope) -> tuple[Tool, ...]:
    does = PeopleTools(access)
    tools: tuple[Tool, ...] = (
        Tool("status", "Tasks with state, reason, next command; the run; main.", Filter, does.status, True),
        Tool("explain", "Why a task waits, runs, failed or landed.", OneTask, does.explain, True),
        Tool("inbox", "Everything that waits for a person.", Nothing, does.inbox, True),
        Tool("review", "A change that waits for review: checks, comments, diff.", OneTask, does.review, True),
    )
    if scope is not ToolScope.READ:
        tools += (
            Tool("run", "Start a run in the background.", Nothing, does.run),
            Tool("stop", "Stop the run and its agents; their work is kept.", Nothing, does.stop),
            Tool("add_task", "Add a task beside the graph file.", NewTask, does.add_task),
            Tool("retry", "Give a failed or cancelled task new attempts.", Retry, does.retry),
        )
    if scope is ToolScope.DECIDE:
        tools += (
            Tool("answer", "Answer an agent's question; a permission by allow or deny.", Answer, does.answer),
            Tool("accept", "Accept, or decline, a task that an agent proposed.", Proposal, does.accept),
            Tool("approve", "Let a change land; `digest` is that of `review`.", Approve, does.approve),
            Tool("reject", "Send a change back to its agent, with the reason.", Reject, does.reject),
        )
    return tools
