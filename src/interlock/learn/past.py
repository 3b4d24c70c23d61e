"""The runs of a log, one by one, and how each attempt in them went."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from interlock.events import facts as f
from interlock.events.fold import apply
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.reason import Reason
from interlock.model.task import PhaseKind, TaskId


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt at a task, as it was recorded; in wall time, from one fact of the log to another."""

    seconds: float
    """Until its slot was free again."""
    check_seconds: float = 0.0
    """Time of the import, the check and the landing, together."""
    landed: bool = False
    cost_usd: float | None = None
    """Cost; None if the agent did not report it."""
    agent: str = ""


@dataclass(slots=True)
class PastRun:
    """One run between its start and its end (or the start of the next)."""

    run: str
    first: int
    """The position of RunStarted."""
    last: int
    started: float
    ended: float
    slots: int
    selection: tuple[TaskId, ...] | None
    lane_depth: int = 1
    """Number of changes it checked at once."""
    why: Reason | None = None
    """The reason of its end; None: it was cut off, or still goes on."""
    landed: int = 0
    failed: int = 0
    attempts: int = 0
    tries: dict[TaskId, list[Try]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.ended - self.started

    @property
    def cost_usd(self) -> float | None:
        said = [one.cost_usd for tries in self.tries.values() for one in tries if one.cost_usd is not None]
        return sum(said) if said else None


def past_runs(rows: Iterable[Recorded]) -> list[PastRun]:
    """All runs of a log, oldest first. The rows begin with the first of the log."""
    state, runs, begun = State(), [], _Begun()
    for row in rows:
        fact = row.fact
        if isinstance(fact, f.RunStarted):
            runs.append(
                PastRun(
                    fact.run,
                    row.seq,
                    row.seq,
                    row.time,
                    row.time,
                    fact.max_parallel,
                    fact.selection,
                    fact.lane_depth,
                )
            )
            begun = _Begun()
        changed = apply(state, row)
        if not runs:
            continue
        run = runs[-1]
        if not run.why:
            run.last, run.ended = row.seq, row.time
        if isinstance(fact, f.RunEnded) and fact.run == run.run:
            run.why = fact.why
        if isinstance(fact, f.ClutchDecided) and not fact.category and not run.attempts:
            run.slots = fact.limit
        if isinstance(fact, f.PhaseFact | f.TaskFailed) and fact.task in changed:
            _take(run, begun, state, fact, row.time)
    return runs


@dataclass(slots=True)
class _Begun:
    """Start of each task's current phase, and the attempt that is not over yet."""

    at: dict[TaskId, tuple[float, PhaseKind]] = field(default_factory=dict)
    tries: dict[TaskId, Try] = field(default_factory=dict)
    builds: dict[TaskId, float] = field(default_factory=dict)
    """Time of the checks of each task's last build: its check on main takes these results."""


def _take(run: PastRun, begun: _Begun, state: State, fact: f.Fact, time: float) -> None:
    if isinstance(fact, f.TaskFailed):
        run.failed += 1
    elif isinstance(fact, f.PhaseStarted):
        task = state.tasks[fact.task]
        begun.at[fact.task] = (time, task.phase.kind)
        if task.phase.kind is PhaseKind.AGENT:
            run.attempts += 1
            begun.tries[fact.task] = Try(0.0, agent=fact.agent)
    elif isinstance(fact, f.AgentExited) and fact.task in begun.tries:
        since, _ = begun.at[fact.task]
        begun.tries[fact.task] = replace(begun.tries[fact.task], seconds=time - since)
        begun.at[fact.task] = (time, PhaseKind.CHECK)
    elif isinstance(fact, f.BuildEnded):
        begun.builds[fact.task] = fact.seconds
    elif isinstance(fact, f.PhasePassed | f.PhaseFailed | f.PhaseLost | f.CandidateStale):
        _end_phase(run, begun, fact, time)


def _end_phase(run: PastRun, begun: _Begun, fact: f.PhaseFact, time: float) -> None:
    name = fact.task
    if name not in begun.at or name not in begun.tries:
        return
    since, kind = begun.at.pop(name)
    so_far = begun.tries[name]
    usage = fact.usage if isinstance(fact, f.WorkFinished | f.PhaseFailed | f.PhaseLost) else None
    took = time - since
    check = max(took, begun.builds.pop(name, 0.0)) if kind is PhaseKind.CHECK else took
    agent, check = (took, 0.0) if kind is PhaseKind.AGENT else (0.0, check)
    landed = isinstance(fact, f.Landed)
    begun.tries[name] = Try(
        so_far.seconds + agent,
        so_far.check_seconds + check,
        landed,
        _plus(so_far.cost_usd, usage.cost_usd if usage else None),
        so_far.agent,
    )
    if landed or isinstance(fact, f.PhaseFailed | f.PhaseLost):
        run.tries.setdefault(name, []).append(begun.tries.pop(name))
        run.landed += landed


def _plus(one: float | None, other: float | None) -> float | None:
    return one if other is None else (one or 0.0) + other
