"""The table of routes: the whole API. A route that is not in it does not exist."""

from functools import partial

from interlock.ui.queries.attempts import TaskDocument
from interlock.ui.queries.inbox import InboxDocument
from interlock.ui.web import reads, session
from interlock.ui.web.acting import ACTIONS, Acted, Action, act
from interlock.ui.web.openapi import document
from interlock.ui.web.route import Ask, Route
from interlock.ui.web.scopes import Scope
from interlock.ui.web.stream import stream_changes

EVENTS = "text/event-stream"


async def _openapi(_ask: Ask) -> object:
    return document(ROUTES)


async def _act(action: Action, ask: Ask) -> Acted:
    acted = await act(ask.served, action, ask.values)
    await ask.site.feed(ask.project).refresh()
    return acted


def _action(action: Action) -> Route:
    return Route(
        "POST",
        f"/api/actions/{action.name}",
        action.scope,
        Acted,
        action.summary,
        answer=partial(_act, action),
        takes=action.takes,
    )


ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/session", Scope.OPEN, session.Session, "The rights of the caller.", session.session),
    Route(
        "POST",
        "/api/session",
        Scope.OPEN,
        session.Session,
        "Exchange a token for a cookie.",
        stream=session.begin,
        takes=session.Token,
    ),
    Route("DELETE", "/api/session", Scope.OPEN, session.Session, "Drop the cookie.", stream=session.end),
    Route("GET", "/api/snapshot", Scope.READ, reads.Snapshot, "The whole project now.", reads.snapshot),
    Route(
        "GET",
        "/api/stream",
        Scope.READ,
        reads.Change,
        "What changes, as server-sent events.",
        stream=stream_changes,
        takes=reads.After,
        content_type=EVENTS,
    ),
    Route(
        "GET",
        "/api/tasks/{id}",
        Scope.OWN,
        TaskDocument,
        "A task with its attempts and evidence.",
        reads.task,
        takes=reads.OfTask,
    ),
    Route("GET", "/api/inbox", Scope.READ, InboxDocument, "What waits for a person.", reads.inbox),
    Route("GET", "/api/openapi.json", Scope.READ, dict, "This document.", _openapi),
    *map(_action, ACTIONS),
)
