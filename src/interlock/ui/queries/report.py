"""The report of the last hours: what a person must decide first, what failed, what landed."""

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.usage import Usage
from interlock.ui.queries.inbox import Item, items
from interlock.ui.queries.spending import Spending
from interlock.ui.reading import Reading

FIRST = ("red-main", "permission", "question", "review", "failed", "overlap", "proposal", "pull-request")
"""The order of decisions: first what holds up everything, then agents at work, then finished work."""


@dataclass(frozen=True, slots=True)
class Done:
    """A task that landed, or was done without a change."""

    task: str
    goal: str
    commit: str
    evidence: str
    time: float
    steering: tuple[str, ...] = ()
    """Files of the change that decide how its checks run."""
    untried: bool = False
    """Its checks were not tried on code that was broken on purpose."""


@dataclass(frozen=True, slots=True)
class Report:
    """What happened since a time, and what a person has to do."""

    since: float
    time: float
    live: bool
    decide: tuple[Item, ...]
    landed: tuple[Done, ...]
    undone: tuple[str, ...]
    counts: dict[str, int]
    """Tasks by state, now."""
    attempts: int
    usage: Usage


def report(reading: Reading, rows: Sequence[Recorded], since: float) -> Report:
    """`rows` are the facts since then."""
    state = reading.state
    rank = {kind: number for number, kind in enumerate(FIRST)}
    decide = sorted(items(reading), key=lambda item: (rank.get(item.kind, len(FIRST)), item.since))
    spending = Spending()
    for row in rows:
        spending.add(row)
    return Report(
        since,
        reading.now,
        reading.is_live,
        tuple(decide),
        tuple(done for row in rows if (done := _done(state, row))),
        tuple(row.fact.task for row in rows if isinstance(row.fact, f.TaskUndone | f.TaskReopened)),
        {stage.value: count for stage in Stage if (count := state.index.counts.get(stage))},
        sum(isinstance(row.fact, f.SessionOpened) for row in rows),
        spending.total,
    )


def _done(state: State, row: Recorded) -> Done | None:
    fact = row.fact
    if not isinstance(fact, f.Landed | f.NoChangeNeeded):
        return None
    task = state.tasks.get(fact.task)
    commit = fact.commit if isinstance(fact, f.Landed) else ""
    goal = task.spec.goal if task else ""
    evidence = task.evidence if task and commit else None
    if evidence is None:
        return Done(fact.task, goal, commit, "", row.time)
    return Done(fact.task, goal, commit, evidence.grade, row.time, evidence.steering, evidence.untried)
