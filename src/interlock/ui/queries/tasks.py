"""Tasks as rows: where each stands, why, and what to type next. The same rows for people and programs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from interlock.events.asked import Permission
from interlock.events.baselines import obstacle
from interlock.events.lifecycle import Stage
from interlock.events.state import State, TaskState
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.evidence import Evidence
from interlock.model.nearest import find_task
from interlock.model.reason import Reason, Why
from interlock.model.task import Origin, PhaseKind, TaskId
from interlock.model.usage import Usage
from interlock.schedule import Board
from interlock.ui.cli.exits import ExitCode
from interlock.ui.reading import Reading
from interlock.ui.words.checks import main_text, obstacles
from interlock.ui.words.evidence import landed_text
from interlock.ui.words.forecasts import category_of
from interlock.ui.words.plain import counted, inert
from interlock.ui.words.remedies import after_failure


@dataclass(frozen=True, slots=True)
class Row:
    """One task as `status` shows it."""

    id: str
    state: str
    phase: str
    attempts: int
    reason: str
    why: str
    next: str
    landed_commit: str | None
    evidence: Evidence | None
    """How well its change is known to work; None: there is no change, or it was refused."""
    question: str | None
    """What it waits for a person to answer."""
    goal: str
    needs: tuple[str, ...]
    waits_for: tuple[str, ...]
    agent: str
    priority: int
    story: str
    category: str
    category_why: str
    """`declared`, or what it was inferred from."""
    expected_seconds: float | None
    """None: nothing says how long it takes."""
    paused: bool
    selected: bool
    since: float
    busy_seconds: float
    origin: Origin
    parent: str | None
    """The task that it is a part of."""
    usage: Usage
    """Of all its attempts, however they ended."""


ORDER = (Stage.RUNNING, Stage.FAILED, Stage.WAITING, Stage.CANCELLED, Stage.DONE)
"""What needs eyes first comes first; removed tasks are not shown."""


def by_stage(state: State) -> dict[Stage, list[TaskId]]:
    """The tasks of the plan in the order they are shown, in the order of the graph within each stage."""
    found: dict[Stage, list[TaskId]] = {stage: [] for stage in ORDER}
    for name, task in state.tasks.items():
        if task.stage in found:
            found[task.stage].append(name)
    return {stage: names for stage, names in found.items() if names}


def rows(reading: Reading, names: Iterable[TaskId] | None = None, board: Board | None = None) -> list[Row]:
    """These tasks, or all. With 10,000 of them a board takes a while: better pass on one that is there."""
    state = reading.state
    board = board or Board(state)
    if names is None:
        names = [name for members in by_stage(state).values() for name in members]
    return [row(reading, state.tasks[name], board.reason(name, reading.now)) for name in names]


def row(reading: Reading, task: TaskState, reason: Reason) -> Row:
    """One task with its cause put into words."""
    reason = in_words(reading, task, reason)
    spec, (category, category_why) = task.spec, category_of(task)
    return Row(
        id=spec.id,
        state=task.stage.value,
        phase=task.phase.name,
        attempts=task.attempt,
        reason=reason.text,
        why=reason.why.value,
        next=next_command(reading, task, reason),
        landed_commit=task.landed.commit if task.landed else None,
        evidence=task.evidence,
        question=task.asks.text if task.asks else None,
        goal=spec.goal,
        needs=spec.needs,
        waits_for=reason.tasks,
        agent=task.who.name,
        priority=spec.priority,
        story=spec.story,
        category=category,
        category_why=category_why,
        expected_seconds=task.expected_seconds if task.knows_seconds else None,
        paused=task.paused,
        selected=reading.state.is_selected(spec.id),
        since=task.since,
        busy_seconds=task.busy_seconds,
        origin=task.origin,
        parent=task.parent or None,
        usage=task.usage,
    )


NEEDS_A_RUN = (
    Why.READY,
    Why.SLOTS,
    Why.CLUTCH,
    Why.LANE,
    Why.LEASE,
    Why.OVERLAP,
    Why.BACKOFF,
    Why.STOPPING,
    Why.NO_RUN,
)
"""Reasons that mean nothing once the loop is gone."""
QUIET_SECONDS = 30.0
"""A loop that is well renews its claims three times as often."""


def in_words(reading: Reading, task: TaskState, reason: Reason) -> Reason:
    """The reason with what only a reader knows: the time, the claims, and whether anybody is at work."""
    if task.stage is Stage.RUNNING:
        return Reason(Why.RUNNING, _running(reading, task))
    if task.stage is Stage.FAILED:
        return Reason(Why.FAILED, f"{task.why} ({counted(task.attempt, 'attempt')})")
    if task.stage is Stage.DONE and task.landed:
        how = landed_text(task.landed.commit[:12], task.landed.evidence)
        return Reason(Why.DONE, f"{how} ({counted(task.attempt, 'attempt')})")
    if task.stage is Stage.CANCELLED:
        return Reason(Why.CANCELLED, task.why)
    if reason.why is Why.CHECK and (check := obstacle(reading.state, task.spec)):
        return replace(reason, text=f"`{inert(check.command)}` {main_text(check)}")
    if not reading.is_live and reason.why in NEEDS_A_RUN:
        return Reason(Why.NO_RUN, "no run is going on")
    return reason


def _running(reading: Reading, task: TaskState) -> str:
    by = f" by {task.who.name}" if task.phase.kind is PhaseKind.AGENT else ""
    text = f"{task.phase.name}{by}, attempt {task.attempt}, for {lasting(reading.now - task.since)}"
    claim = reading.claim_on(task.spec.id)
    if not reading.is_live:
        return f"{text}; its run has ended, the next one continues it"
    if asked := open_permissions(task):
        return f"{text}; waits for permission: {in_short(asked)}"
    if claim and claim.renewed_seconds_ago > QUIET_SECONDS:
        return f"{text}; no sign of life for {lasting(claim.renewed_seconds_ago)}"
    if claim and claim.note:
        return f"{text}: {inert(claim.note)}"
    return text


def open_permissions(task: TaskState) -> list[Permission]:
    """What the agent at work waits to be allowed or denied."""
    if not task.has_agent:
        return []
    return [asked for asked in task.permissions if asked.allow is None and asked.attempt == task.attempt]


def in_short(asked: list[Permission]) -> str:
    """The first one, and how many there are besides."""
    first = inert(" ".join((asked[0].tool, asked[0].text)).strip())
    return f"{first} (and {len(asked) - 1} more)" if len(asked) > 1 else first


def next_command(reading: Reading, task: TaskState, reason: Reason) -> str:
    """The one command that helps most from here."""
    name = task.spec.id
    if task.stage is Stage.RUNNING and reading.is_live:
        return f"interlock answer {name} allow" if open_permissions(task) else f"interlock logs {name} -f"
    if task.stage is Stage.RUNNING:
        return "interlock run"
    if task.stage in (Stage.FAILED, Stage.CANCELLED):
        return after_failure(task)
    if task.stage is Stage.DONE:
        return f"interlock show {name}"
    if reason.why is Why.ANSWER:
        return f'interlock answer {name} "..."'
    if reason.why is Why.PAUSED:
        return f"interlock unpause {name}" if task.paused else "interlock unpause"
    return HELPS.get(reason.why) or f"interlock explain {name}"


HELPS = {Why.CHECK: "interlock doctor", Why.NO_RUN: "interlock run", Why.NOT_SELECTED: "interlock run"}
"""What to type for a reason that is about no task in particular."""


def find(state: State, text: str) -> TaskState:
    """The task a person means."""
    names = [name for name, task in state.tasks.items() if task.stage is not Stage.REMOVED or name == text]
    if not names:
        raise UsageError(f"there is no task `{text}`: no task graph was taken in yet", "interlock run")
    return state.tasks[find_task(text, names, "`interlock status` lists all tasks")]


def verdict(reading: Reading) -> ExitCode:
    """How things stand, as an exit code: still running, all landed, a person must answer, or not landed."""
    if reading.is_live:
        return ExitCode.RUNNING
    state = reading.state
    code = outcome(
        [t for name, t in state.tasks.items() if t.stage is not Stage.REMOVED and state.is_selected(name)]
    )
    return ExitCode.ENVIRONMENT if code is ExitCode.FAILED and obstacles(state) else code


def outcome(wanted: Iterable[TaskState]) -> ExitCode:
    """What came of these tasks, which nobody is at work on."""
    left = [task for task in wanted if task.stage is not Stage.DONE]
    if not left:
        return ExitCode.OK
    needs_person = any(task.asks for task in left) and not any(task.is_over for task in left)
    return ExitCode.NEEDS_PERSON if needs_person else ExitCode.FAILED
