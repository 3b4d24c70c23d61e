"""Forecasts the time and cost of the rest of a run: many rehearsals, each with its own luck (P3, A8)."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from interlock.engine.rehearsal import Copies, Fate, Outlook, Rehearsal, Script, copied, imagined, unfinished
from interlock.events.facts import Fact
from interlock.events.fold import apply
from interlock.events.state import State, TaskState
from interlock.learn.estimate import Estimator
from interlock.learn.prospects import Amount, Prospect, prospect
from interlock.model.task import TaskId

MOST, LEAST = 100, 20
WORK = 6_000
"""Tasks times rehearsals: a second or two of computing. The more tasks there are, the less luck matters."""

REHEARSED = 100
"""Tasks left, above which a quick look has to do."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Values that half and nine tenths of the rehearsals stayed below."""

    seconds_p50: float
    seconds_p90: float
    cost_usd_p50: float | None
    """Cost; None if the log has no cost of any attempt."""
    cost_usd_p90: float | None
    attempts: float
    """The mean."""
    left: float
    """Tasks that are expected not to land."""
    evidence: float
    """Attempts in the log that the least known of the tasks is judged by."""
    rehearsals: int
    is_guess: bool = False
    """True if the time of some task is unknown: it has no estimate, and no attempt of any kind."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which the rehearsals are held."""

    now: float
    slots: int | None = None
    """Begin a run with so many; None: one is going on."""
    selection: tuple[TaskId, ...] | None = None
    seed: int = 0
    lane_depth: int = 1
    """Number of changes that such a run checks at once."""


def foresee(state: State, terms: Terms) -> Foreseen:
    """The rest of a run, or a whole one."""
    todo = [task for name, task in state.tasks.items() if not task.is_over and _is_wanted(name, state, terms)]
    count = max(LEAST, min(MOST, WORK // max(1, len(todo))))
    copies = Copies(unfinished(state))
    outlooks = [
        rehearse(copies.next(), terms, drawn(state, f"{terms.seed}/{number}")) for number in range(count)
    ]
    known = [prospect(task, state.learned.tallies) for task in todo]
    seconds = sorted(outlook.seconds for outlook in outlooks)
    costs = sorted(outlook.cost_usd for outlook in outlooks)
    is_priced = any(each.cost_usd for each in known)
    return Foreseen(
        quantile(seconds, 0.5),
        quantile(seconds, 0.9),
        quantile(costs, 0.5) if is_priced else None,
        quantile(costs, 0.9) if is_priced else None,
        sum(outlook.attempts for outlook in outlooks) / count,
        sum(outlook.left for outlook in outlooks) / count,
        min((each.evidence for each in known), default=0.0),
        count,
        any(not task.knows_seconds for task in todo),
    )


def planned(state: State, changes: Iterable[Fact]) -> State:
    """The state as it would be with these facts in the log, and a forecast for all that is left to do."""
    state = copied(state)
    for fact in changes:
        apply(state, imagined(state, state.time, fact))
    estimator = Estimator(state)
    for task in state.tasks.values():
        if not task.is_over:
            task.forecast = estimator.forecast(task.spec)
    return state


def rehearse(state: State, terms: Terms, script: Script) -> Outlook:
    """One way it may go. `state` is used up."""
    rehearsal = Rehearsal(state, terms.now, script)
    if terms.slots is not None:
        rehearsal.begin(terms.slots, terms.selection, terms.lane_depth)
    return rehearsal.run()


def remaining_seconds(state: State, now: float) -> float | None:
    """Return the expected time left of the current run: one rehearsal without any luck. With very many
    tasks left only the work is added up. None if the time of some task is unknown."""
    todo = [task for name, task in state.tasks.items() if not task.is_over and state.is_selected(name)]
    if len(todo) > REHEARSED:
        slots = state.run.limit if state.run else 1
        known = all(task.knows_seconds for task in todo)
        return sum(task.expected_seconds for task in todo) / max(1, slots) if known else None
    # Those in the log are as old as their last refresh, which in a short run is its beginning.
    estimator = Estimator(state)
    forecasts = {task.spec.id: estimator.forecast(task.spec) for task in todo}
    if any(forecast.is_guess for forecast in forecasts.values()):
        return None
    left = unfinished(state)
    for name, forecast in forecasts.items():
        left.tasks[name].forecast = forecast
    return rehearse(left, Terms(now), _expected(state)).seconds


def expected_ends(state: State, now: float) -> dict[TaskId, float]:
    """Return the expected time until each change of the train lands, by one rehearsal without any luck. The
    work of its agent is done, so the times of checks are all that must be known."""
    if not state.checks.seconds or len(state.tasks) > REHEARSED:
        return {}
    ends = rehearse(unfinished(state), Terms(now), _expected(state)).ends
    return {name: seconds for name, seconds in ends.items() if name in state.index.train}


def _expected(state: State) -> Script:
    def fate(task: TaskState, _attempt: int) -> Fate:
        known = prospect(task, state.learned.tallies)
        return Fate(known.seconds.median / max(known.success, 0.1), True, known.check_seconds.median)

    return fate


def drawn(state: State, seed: str) -> Script:
    """Draw fates from the prospects. The same seed always draws the same for a task."""
    luck = cache(lambda what: _dice(seed, what).gauss(0.0, 1.0))
    prospects: dict[TaskId, Prospect] = {}

    def fate(task: TaskState, attempt: int) -> Fate:
        name = task.spec.id
        if name not in prospects:
            prospects[name] = prospect(task, state.learned.tallies)
        known, dice = prospects[name], _dice(seed, f"{name}/{attempt}")

        def amount(spread: Amount | None, what: str) -> float:
            return spread.at(dice.gauss(0.0, 1.0), luck(f"{known.kind}/{what}")) if spread else 0.0

        return Fate(
            amount(known.seconds, "seconds"),
            dice.random() < known.success_at(luck(f"{known.kind}/success")),
            amount(known.check_seconds, "checks"),
            amount(known.cost_usd, "cost"),
        )

    return fate


def _dice(seed: str, what: str) -> random.Random:
    return random.Random(f"{seed}/{what}")  # noqa: S311 - nothing secret: the same again is the point


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, interpolated."""
    if not values:
        return 0.0
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def _is_wanted(name: TaskId, state: State, terms: Terms) -> bool:
    if terms.slots is None:
        return state.is_selected(name)
    return terms.selection is None or name in terms.selection
