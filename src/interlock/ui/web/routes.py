"""The table of routes: the whole API. A route that is not in it does not exist."""

from functools import partial

import msgspec

from interlock.ui.queries.attempts import TaskDocument
from interlock.ui.queries.explain import ExplainDocument
from interlock.ui.queries.graph import GraphDocument
from interlock.ui.queries.inbox import InboxDocument
from interlock.ui.queries.queue import QueueView
from interlock.ui.queries.radar import RadarDocument
from interlock.ui.queries.review import ReviewDocument, ReviewsDocument
from interlock.ui.queries.route import RouteDocument
from interlock.ui.queries.spending import CostDocument
from interlock.ui.queries.timeline import TimelineDocument
from interlock.ui.web import reads, session, task_reads
from interlock.ui.web.acting import ACTIONS, Acted, Action, act
from interlock.ui.web.openapi import document
from interlock.ui.web.route import Ask, NoParameters, Route
from interlock.ui.web.scopes import Scope
from interlock.ui.web.stream import stream_changes
from interlock.ui.web.terminal import OfTerminal, terminal

EVENTS = "text/event-stream"


async def _openapi(_ask: Ask) -> object:
    return document(ROUTES)


async def _act(action: Action, ask: Ask) -> object:
    do = partial(act, ask.served, action, ask.values)
    asked = action.name.encode() + b" " + msgspec.json.encode(ask.values)
    acted = await (ask.served.once.do(ask.key, asked, do) if ask.key else do())
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


TASK_READS = (
    ("", TaskDocument, "A task with its attempts and evidence.", task_reads.task, task_reads.OfTask),
    ("/diff", task_reads.ChangeDocument, "What it changed.", task_reads.change, task_reads.OfChange),
    ("/log", task_reads.LogDocument, "A part of what an attempt left.", task_reads.log, task_reads.OfLog),
)
"""An agent gets its own attempt by them."""
TASK_READS_OF_PEOPLE = (
    ("/explain", ExplainDocument, "Why it stands where it does.", task_reads.explanation, task_reads.OfTask),
    ("/route", RouteDocument, "The agent it would get, and why.", task_reads.route, task_reads.OfTask),
    ("/review", ReviewDocument, "What a reviewer looks at.", task_reads.review, task_reads.OfTask),
)
READS = (
    ("projects", reads.ProjectsDocument, "The projects of this server.", reads.projects, NoParameters),
    ("inbox", InboxDocument, "What waits for a person.", reads.inbox, NoParameters),
    ("reviews", ReviewsDocument, "The changes that wait for review.", reads.reviews, NoParameters),
    ("queue", QueueView, "The changes on their way to main.", reads.queue, NoParameters),
    ("timeline", TimelineDocument, "A run over time.", reads.timeline, reads.OfRun),
    ("graph", GraphDocument, "The plan, laid out.", reads.graph, reads.OfMoment),
    ("radar", RadarDocument, "Changes under way that conflict.", reads.radar, NoParameters),
    ("cost", CostDocument, "What agents have used, and limits.", reads.cost, NoParameters),
    ("budgets", reads.BudgetsDocument, "What is left of each budget.", reads.budgets, NoParameters),
    ("health", reads.HealthDocument, "The machine, and failures.", reads.health, NoParameters),
    ("events", reads.EventsDocument, "Facts of the log.", reads.events, reads.AfterFact),
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
    Route(
        "GET",
        "/api/snapshot",
        Scope.READ,
        reads.Snapshot,
        "The whole project, now or at any moment of its log.",
        reads.snapshot,
        takes=reads.OfMoment,
    ),
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
    *(
        Route("GET", f"/api/tasks/{{id}}{path}", Scope.OWN, gives, summary, answer, takes=takes)
        for path, gives, summary, answer, takes in TASK_READS
    ),
    *(
        Route("GET", f"/api/tasks/{{id}}{path}", Scope.READ, gives, summary, answer, takes=takes)
        for path, gives, summary, answer, takes in TASK_READS_OF_PEOPLE
    ),
    Route(
        "GET",
        "/api/tasks/{id}/terminal",
        Scope.OWN,
        bytes,
        "The output of an attempt as it comes: a WebSocket for a terminal that only shows.",
        stream=terminal,
        takes=OfTerminal,
        content_type="application/octet-stream",
    ),
    *(
        Route("GET", f"/api/{path}", Scope.READ, gives, summary, answer, takes=takes)
        for path, gives, summary, answer, takes in READS
    ),
    Route("GET", "/api/openapi.json", Scope.READ, dict, "This document.", _openapi),
    *map(_action, ACTIONS),
)
