"""The agents at work, as rows for people and programs."""

from dataclasses import dataclass, field

from interlock.events.state import TaskState
from interlock.model.usage import Usage
from interlock.ui.plain import inert
from interlock.ui.reading import Reading, open_permissions
from interlock.ui.words.reasons import in_short


@dataclass(frozen=True, slots=True)
class AtWork:
    """The last action of an agent, and its usage."""

    words: str = ""
    """Its last action; of a program that tells no events, its last line of output."""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    """Usage of all attempts of its task so far."""
    quiet_seconds: float | None = None
    """Since it last printed anything; None: it has printed nothing."""
    printed: float | None = None
    """The time at which it did, by the clock of the disk."""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent at work."""

    task: str
    attempt: int
    agent: str
    use: str
    model: str
    sandbox: str
    """'' as long as it has not started."""
    session: str
    pid: int | None
    """Process id of its supervisor."""
    last: str
    quiet_seconds: float | None
    """Since then."""
    printed: float | None
    """The time of its last output."""
    since: float
    """The time at which it started."""
    running_seconds: float
    usage: Usage
    """Usage of all attempts of its task, as far as it was counted."""
    asks: str
    """The permission it waits for; '' if none."""


def agent_row(reading: Reading, task: TaskState, seen: AtWork, pid: int | None) -> AgentRow:
    """The agent of a running task. `seen` and `pid` come from the files of its attempt."""
    spec = task.spec
    session = (
        task.session.opened if task.session.opened and task.session.opened.attempt == task.attempt else None
    )
    asked = open_permissions(task) if reading.is_live else []
    claim = reading.claim_on(spec.id)
    return AgentRow(
        task=spec.id,
        attempt=task.attempt,
        agent=task.who.name,
        use=task.who.use,
        model=seen.model or task.who.model,
        sandbox=session.sandbox if session else "",
        session=session.session if session else "",
        pid=pid,
        last=seen.words or inert(claim.note if claim else ""),
        quiet_seconds=seen.quiet_seconds,
        printed=seen.printed,
        since=task.since,
        running_seconds=reading.now - task.since,
        usage=seen.usage,
        asks=in_short(asked) if asked else "",
    )


@dataclass(frozen=True, slots=True)
class AgentsDocument:
    """All agents at work."""

    agents: list[AgentRow]
    live: bool
    sandbox: str | None
    time: float


def agents_document(reading: Reading, rows: list[AgentRow]) -> AgentsDocument:
    run = reading.state.run
    return AgentsDocument(rows, reading.is_live, run.sandbox or None if run else None, reading.now)
