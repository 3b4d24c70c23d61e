"""Decides what the log is told about overlaps of running work, and what is said to agents.

Rules:
1. The first report about a pair is written at once. Each further one (other paths, gone, there again) waits
   until a while after the one before, twice as long each time: an overlap that comes and goes fills no log.
2. At most `MOST` overlaps are kept. With so many, one more says nothing.
3. With `tell`, each agent at work hears of each of its overlaps once.
4. With `order`, a change that joins the train goes before those that it conflicts with, if it has more
   overlaps with work under way, or as many and more was spent on it: then that need not be done again.
5. Only changes give way that wait, are not being tested, were not moved by a person, undo nothing and have
   no higher priority. What was tested on this main keeps its place.
6. A change gives way only to work that was seen to conflict before it was finished itself. These are so
   many and become no more, so each change gets its turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from interlock.events.facts import Fact, GaveWay, OverlapGone, OverlapSeen, WorkFinished
from interlock.events.radar import is_flying, is_queued, may_give_way, overlap_key
from interlock.events.state import State, TaskState
from interlock.events.state_parts import LiveOverlap
from interlock.model.backoff import grown
from interlock.model.radar import MAIN, Overlap, Queued, Sighting
from interlock.model.task import AttemptKey, PhaseKind, TaskId
from interlock.model.usage import Usage

PAUSE_SECONDS, MOST_PAUSE_SECONDS = 5.0, 600.0
MOST = 500
PATH_CHARS = 200
Report = OverlapSeen | OverlapGone
BY_OVERLAPS, BY_SPENT = "overlaps", "spent"


@dataclass(frozen=True, slots=True)
class Told:
    """The reports about a pair that this process has written."""

    attempts: tuple[int, int]
    times: int
    last: float

    def is_due(self, now: float) -> bool:
        return now >= self.last + grown(PAUSE_SECONDS, MOST_PAUSE_SECONDS, self.times - 1)


def running(state: State) -> list[AttemptKey]:
    """The attempts whose workspaces are looked at."""
    tasks = (state.tasks[name] for name in sorted(state.index.running))
    return [AttemptKey(task.spec.id, task.attempt) for task in tasks if is_flying(task)]


def queued(state: State) -> list[Queued]:
    """The finished changes that these may conflict with."""
    tasks = (state.tasks[name] for name in sorted(state.index.train))
    return [
        Queued(AttemptKey(task.spec.id, task.attempt), work.commit, work.base, work.touched)
        for task in tasks
        if is_queued(task) and (work := task.change.work)
    ]


def reports(state: State, sighting: Sighting, told: Mapping[str, Told], now: float) -> dict[str, Report]:
    """Return the facts that are due, by the key of their pair."""
    seen = {overlap_key(each.task, each.other): each for each in sighting.overlaps}
    facts = {**dict(_gone(state, seen)), **dict(_seen(state, seen))}
    return {
        key: fact
        for key, fact in facts.items()
        if key not in told or told[key].attempts != _attempts(fact) or told[key].is_due(now)
    }


def after(
    told: Mapping[str, Told], written: Mapping[str, Report], state: State, now: float
) -> dict[str, Told]:
    """The reports told so far, once these are written. Attempts that are over are forgotten."""
    kept = {key: each for key, each in told.items() if all(name in state.tasks for name in key.split())}
    for key, fact in written.items():
        before = kept.get(key)
        times = before.times if before and before.attempts == _attempts(fact) else 0
        kept[key] = Told(_attempts(fact), times + 1, now)
    return kept


def _attempts(fact: Report) -> tuple[int, int]:
    return fact.attempt, fact.other_attempt


def _gone(state: State, seen: Mapping[str, Overlap]) -> Iterator[tuple[str, Report]]:
    for key, live in state.radar.live.items():
        if key not in seen:
            yield key, OverlapGone(live.task, live.attempt, live.other, live.other_attempt)


def _seen(state: State, seen: Mapping[str, Overlap]) -> Iterator[tuple[str, Report]]:
    room = MOST - len(state.radar.live)
    for key, each in seen.items():
        live = state.radar.live.get(key)
        if live and (live.paths, live.count) == (each.paths, each.count):
            continue
        room -= live is None
        if room >= 0 or live:
            yield (
                key,
                OverlapSeen(each.task, each.attempt, each.other, each.other_attempt, each.paths, each.count),
            )


def overlaps_to_tell(state: State, task: TaskId) -> list[LiveOverlap]:
    """Return the overlaps that the agent of a task should know of."""
    if not state.radar.live or state.run is None or state.run.radar != "tell":
        return []
    return state.radar.of(task)


def message(state: State, overlap: LiveOverlap, task: TaskId) -> str:
    """Return the text for the agent of one of the two."""
    named = [" ".join(path.split())[:PATH_CHARS] for path in overlap.paths]
    more = overlap.count - len(named)
    paths = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    other = overlap.beside(task)
    if other == MAIN:
        return (
            f"Main has changed since you began, and your change conflicts with it now in: {paths}. "
            f"`git show {state.main.commit}:PATH` prints a file as it is on main. "
            "Make your change fit that version."
        )
    return (
        f"Another agent is working on the task {other}, and your changes conflict now in: {paths}. "
        "You cannot see its files. The change that is finished second is merged onto the first one, and goes "
        "back to its agent if it conflicts. Change no more of these files than your task needs."
    )


def gives_way(state: State, facts: Sequence[Fact]) -> list[GaveWay]:
    """Return the changes that go behind the one that joins the train by these facts, in their order."""
    if not state.radar.live or state.run is None or state.run.radar != "order":
        return []
    done = next((fact for fact in facts if isinstance(fact, WorkFinished)), None)
    joins = state.tasks.get(done.task) if done else None
    if done is None or joins is None or not _joins_train(joins, done):
        return []
    met = {each.beside(done.task): each for each in state.radar.of(done.task)}
    return [
        GaveWay(name, task.attempt, done.task, done.attempt, by)
        for name in state.index.train
        if name in met and _waits_untested(state, task := state.tasks[name], met[name].seq)
        if joins.spec.priority <= task.spec.priority and (by := _more_of(state, joins, done, task))
    ]


def _joins_train(task: TaskState, done: WorkFinished) -> bool:
    after_it = task.spec.pipeline[task.phase_index + 1 :][:1]
    is_current = (task.attempt, task.phase.name, task.epoch) == (done.attempt, done.phase, done.epoch)
    return is_flying(task) and is_current and any(phase.kind is PhaseKind.CHECK for phase in after_it)


def _waits_untested(state: State, task: TaskState, seen: int) -> bool:
    """Rules 5 and 6. `seen`: the log position of the first report of the overlap."""
    work = task.change.work
    builds = (*state.builds.running.values(), *state.builds.ended)
    tested = {
        name for build in builds if build.main == state.main.commit for name in (*build.ahead, build.task)
    }
    if work is None or task.change.undo or task.spec.id in tested:
        return False
    return may_give_way(task) and seen < work.seq


def _more_of(state: State, joins: TaskState, done: WorkFinished, task: TaskState) -> str:
    """Return what the change that joins has more of; empty: of nothing that counts."""
    pair = (joins.spec.id, task.spec.id)
    more, fewer = (_overlaps_at_work(state, name, pair) for name in pair)
    if more != fewer:
        return BY_OVERLAPS if more > fewer else ""
    usage = done.usage if done.usage and done.attempt > joins.spent.usage_of else Usage()
    cost, other_cost = _priced(joins.spent.usage + usage), _priced(task.spent.usage)
    if cost is not None and other_cost is not None and cost != other_cost:
        return BY_SPENT if cost > other_cost else ""
    return BY_SPENT if joins.spent.busy_seconds + done.seconds > task.spent.busy_seconds else ""


def _overlaps_at_work(state: State, name: TaskId, pair: tuple[TaskId, TaskId]) -> int:
    others = {each.beside(name) for each in state.radar.of(name)} - {*pair, MAIN}
    return sum(is_flying(state.tasks.get(other)) for other in others)


def _priced(usage: Usage) -> float | None:
    """Return what it cost; None: the price of a part of it is not known."""
    return None if usage.unpriced_tokens else usage.cost_usd
