"""The routes about a whole project: parameters, and the queries that answer."""

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Raw

from interlock.engine.host import HostReading, LocalHost
from interlock.schedule import Board
from interlock.ui.checks_at_work import checks_begun
from interlock.ui.examined import (
    branch_findings,
    disk,
    disk_findings,
    load_average,
    log_bytes,
    machine_findings,
    program_findings,
    state_findings,
)
from interlock.ui.queries.agents import AgentRow, AtWork, agent_row
from interlock.ui.queries.budgets import BudgetRow, budget_rows
from interlock.ui.queries.clutch import clutch_view
from interlock.ui.queries.facts import fact_document
from interlock.ui.queries.findings import Finding
from interlock.ui.queries.graph import GraphDocument, graph_document
from interlock.ui.queries.inbox import InboxDocument, Item, inbox_document, items
from interlock.ui.queries.learned import FailureObject, FlakyObject, failure_document, flaky_document
from interlock.ui.queries.queue import QueueView, queue_view
from interlock.ui.queries.radar import RadarDocument, radar_document, radar_view
from interlock.ui.queries.review import ReviewsDocument, reviews_document
from interlock.ui.queries.spending import CostDocument, cost_document
from interlock.ui.queries.status import Eta, Frame, PoolView, frame, pool_view
from interlock.ui.queries.tasks import TaskRow, rows
from interlock.ui.queries.timeline import TimelineDocument, is_going_on, timeline_document
from interlock.ui.reading import Reading
from interlock.ui.web.route import Ask
from interlock.ui.web.wire import encoded
from interlock.ui.words.facts import line
from interlock.ui.words.reasons import with_reasons

Short = Annotated[str, Meta(max_length=200)]
Position = Annotated[int, Meta(ge=0, le=1 << 53)]
MOST_FACTS = 1_000
EXAMINED = (program_findings, machine_findings, branch_findings, state_findings, disk_findings)


@dataclass(frozen=True, slots=True)
class After:
    """Where a stream begins."""

    after: Short = ""
    """The `cursor` of a snapshot or an event. A browser that comes back names it in `Last-Event-ID`."""


@dataclass(frozen=True, slots=True)
class AfterFact:
    """Facts of the log, from one position on."""

    after: Position = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_FACTS)] = 200


@dataclass(frozen=True, slots=True)
class OfMoment:
    """A moment of the log; without one, now."""

    at: Position | None = None
    """The position of a fact: everything as it was right after it."""
    time: float | None = None
    """The same by the log's clock: the last fact up to this time. `at` comes before it."""


@dataclass(frozen=True, slots=True)
class OfRun:
    """A run."""

    run: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """Its number; 0: the last one."""


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
    wanted = ask.values
    if wanted.at is None and wanted.time is None:
        return Raw(encoded(await ask.site.feed(ask.project).snapshot()))
    await ask.served.catch_up()
    past = ask.served.past
    at = wanted.at if wanted.at is not None else await past.position_at(wanted.time)
    return past_snapshot(ask.served.name, await past.moment(at))


def past_snapshot(project: str, reading: Reading) -> Snapshot:
    """Everything as it was. What files say of an agent at work is of now: only what the log says is shown."""
    board, state = Board(reading.state), reading.state
    found = rows(reading, board=board)
    running = [state.tasks[name] for name in sorted(state.index.running)]
    return Snapshot(
        cursor="",
        seq=state.seq,
        time=reading.now,
        project=project,
        frame=frame(reading, board, found, Eta()),
        tasks=found,
        agents=[
            agent_row(reading, task, AtWork(usage=task.spent.usage), None)
            for task in running
            if task.has_agent
        ],
        inbox=items(reading),
        queue=queue_view(reading, {}),
        radar=radar_document(radar_view(reading)),
    )


async def reading_of(ask: Ask) -> Reading:
    """The project now, or as it was at the moment that is asked for."""
    reading = await ask.served.look()
    return reading if ask.values.at is None else await ask.served.past.moment(ask.values.at)


async def inbox(ask: Ask) -> InboxDocument:
    return inbox_document(await ask.served.look())


async def reviews(ask: Ask) -> ReviewsDocument:
    return reviews_document(await ask.served.look())


async def queue(ask: Ask) -> QueueView:
    reading = await ask.served.look()
    return queue_view(reading, checks_begun(reading, ask.served.log.state_dir))


async def radar(ask: Ask) -> RadarDocument:
    return radar_document(radar_view(await ask.served.look()))


async def graph(ask: Ask) -> GraphDocument:
    reading = await reading_of(ask)
    return graph_document(rows(reading), reading.state.seq)


async def timeline(ask: Ask) -> TimelineDocument:
    reading, past = await ask.served.look(), ask.served.past
    run, found = await past.timeline(ask.values.run)
    sums = await past.sums()
    is_on = run is not None and is_going_on(sums.runs, run, reading)
    return timeline_document(sums, run, found, reading, _expected(reading) if is_on else {})


def _expected(reading: Reading) -> dict[str, float]:
    from interlock.engine.foresight import expected_ends  # takes long to import

    ends = expected_ends(reading.state, reading.now)
    return {name: reading.now + seconds for name, seconds in ends.items()}


async def cost(ask: Ask) -> CostDocument:
    reading, sums = await ask.served.look(), await ask.served.past.sums()
    view = clutch_view(reading, LocalHost().read(), tuple(sums.decisions.newest))
    clutch: Any = with_reasons(view)  # Any: a document
    return cost_document(reading.state, sums.spending, clutch, reading.now)


@dataclass(frozen=True, slots=True)
class BudgetsDocument:
    """The rest of each budget. The document of `interlock budget`."""

    budgets: list[BudgetRow]


async def budgets(ask: Ask) -> BudgetsDocument:
    reading = await ask.served.look()
    return BudgetsDocument(budget_rows(reading.state, reading.now))


@dataclass(frozen=True, slots=True)
class Workspace:
    """The workspace of an attempt that is there."""

    task: str
    attempt: int
    running: bool


@dataclass(frozen=True, slots=True)
class HealthDocument:
    """The state of the machine and of Interlock on it."""

    findings: list[Finding]
    """The rows of `interlock doctor` that take no time."""
    errors: list[FailureObject]
    """As `interlock errors --json` has them."""
    past_errors: int
    """Number of failures that no task has any more: `interlock errors --all`."""
    flaky: list[FlakyObject]
    """As `interlock errors --flaky --json` has them."""
    pool: PoolView
    host: HostReading
    room: int
    """Number of agents that the free memory is enough for."""
    load: float
    """Programs that ran or waited for a processor, over the last minute."""
    disk_bytes: int
    disk_free_bytes: int
    sandbox: str | None
    """The sandbox of the run that is, or was last, active."""
    workspaces: list[Workspace]
    facts: int
    log_bytes: int | None
    """Size of the log on the disk; None: it is on a database server."""
    last_fact: float
    """The time of the newest fact."""
    unknown: bool
    """True: the log has a fact that this version must not go on without."""
    time: float


async def health(ask: Ask) -> HealthDocument:
    served = ask.served
    reading, sums = await served.look(), await served.past.sums()
    async with served.for_reading() as project:
        findings: list[Finding] = []
        for examine in EXAMINED:
            findings += await examine(project)
        space, size = disk(project), log_bytes(project)
    groups = sums.errors.troubles()
    are_open = [group for group in groups if group.open]
    state, host = reading.state, LocalHost().read()
    return HealthDocument(
        findings=findings,
        errors=[failure_document(sums.errors.state, group) for group in are_open],
        past_errors=len(groups) - len(are_open),
        flaky=[flaky_document(check) for check in sums.flakes.found()],
        pool=pool_view(reading, Board(state)),
        host=host,
        room=max(0, host.room),
        load=load_average(),
        disk_bytes=space.total,
        disk_free_bytes=space.free,
        sandbox=state.run.sandbox or None if state.run else None,
        workspaces=_workspaces(reading),
        facts=state.seq,
        log_bytes=size,
        last_fact=state.time,
        unknown=state.unknown is not None,
        time=reading.now,
    )


def _workspaces(reading: Reading) -> list[Workspace]:
    state = reading.state
    names = sorted(state.index.running | state.index.leftovers)
    tasks = [state.tasks[name] for name in names]
    return [
        Workspace(task.spec.id, task.session.leftover or task.attempt, task.has_agent)
        for task in tasks
        if task.attempt
    ]


@dataclass(frozen=True, slots=True)
class EventsDocument:
    """Facts as `interlock events --json` has them, each with its line in words."""

    events: list[dict[str, object]]
    head: int
    """The position of the newest fact."""


async def events(ask: Ask) -> EventsDocument:
    served = ask.served
    found = await served.log.store.read(ask.values.after, ask.values.limit)
    documents = [{**fact_document(row), "line": line(row).strip()} for row in found]
    return EventsDocument(documents, (await served.look()).state.seq)


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project of this server."""

    name: str
    root: str
    live: bool
    needs_you: int
    """Items of its inbox."""
    tasks: int
    seq: int


@dataclass(frozen=True, slots=True)
class ProjectsDocument:
    """All projects of this server."""

    projects: list[ProjectRow]


async def projects(ask: Ask) -> ProjectsDocument:
    found = []
    for name, feed in ask.site.feeds.items():
        reading = await feed.served.look()
        tasks = sum(reading.state.index.counts.values())
        waiting = len(inbox_document(reading).items)
        root = str(feed.served.root)
        found.append(ProjectRow(name, root, reading.is_live, waiting, tasks, reading.state.seq))
    return ProjectsDocument(found)
