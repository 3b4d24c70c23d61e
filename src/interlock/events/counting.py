"""Counts facts in the tallies. Called by the fold after a fact was taken in."""

import math

from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.tallies import MOST_AGENTS, Gauge, Goodput, Shift, Tallies, Tally
from interlock.model.outcome import OWN_FAULTS, ErrorClass
from interlock.model.task import PhaseKind, TaskId
from interlock.model.usage import Usage

SLACK = 0.1
"""Share of an agent that is ignored: one ending while another begins."""
LEAST_SECONDS, LEAST_USD = 0.01, 1e-6
"""The least value that is counted: a logarithm needs more than 0."""


def count(state: State, row: Recorded, changed: set[TaskId]) -> None:
    """Take a fact into the tallies, once the fold has; `changed` are the tasks that it changed."""
    fact = row.fact
    if isinstance(fact, f.RunStarted):
        _new_run(state.learned.tallies, row.time)
        state.learned.overlaps.fade()
    for name in changed:
        _note_place(state, state.tasks[name], row.time)
    if isinstance(fact, _VERDICTS) and fact.task in changed and not state.tasks[fact.task].spec.reverts:
        _count_verdict(state.learned.tallies, state.tasks[fact.task], fact)
    elif isinstance(fact, f.BuildEnded) and fact.task in changed and fact.seconds > 0:
        tally = _tally(state.learned.tallies, state.tasks[fact.task])
        tally.check_seconds.add(max(LEAST_SECONDS, fact.seconds))


def _new_run(tallies: Tallies, time: float) -> None:
    """Skip the time since a run that died: the end of its agents' work is unknown."""
    tallies.fade()
    for gauge in tallies.gauges.values():
        gauge.since = time


def _note_place(state: State, task: TaskState, time: float) -> None:
    """Count the task as queued or as worked on, under its category."""
    tallies = state.learned.tallies
    queue = task.category if _is_queued(state, task) else ""
    if queue != task.queue.counted_as:
        if task.queue.counted_as:
            _settled(tallies, task.queue.counted_as, time).queued -= 1
        if queue:
            _settled(tallies, queue, time).queued += 1
        task.queue.counted_as = queue
    is_at_work = task.session.shift is not None and not task.session.shift.agents
    if task.has_agent and not is_at_work:
        gauge = _settled(tallies, task.category, time)
        task.session.shift = Shift(task.category, time, gauge.area)
        gauge.at_work += 1
    elif task.session.shift and is_at_work and not task.has_agent:
        _end_shift(tallies, task, task.session.shift, time)


def _is_queued(state: State, task: TaskState) -> bool:
    return (
        task.stage is Stage.WAITING
        and task.queue.unmet == 0
        and not task.queue.paused
        and task.asks is None
        and task.phase.kind is PhaseKind.AGENT
        and state.is_selected(task.spec.id)
    )


def _end_shift(tallies: Tallies, task: TaskState, shift: Shift, time: float) -> None:
    gauge = _settled(tallies, shift.category, time)
    gauge.at_work -= 1
    seconds = time - shift.since
    agents = _number((gauge.area - shift.area) / seconds) if seconds > 0 else gauge.at_work + 1
    task.session.shift = Shift(shift.category, shift.since, shift.area, agents)
    goodput = tallies.at(shift.category, agents)
    goodput.attempts += 1
    goodput.agent_seconds += seconds
    tallies.has_news = True


def _number(average: float) -> int:
    """Round up: with at most six allowed, the average is between five and six, and that is a result of six.
    Rounded to the nearest, five would be blamed for half of it."""
    return max(1, math.ceil(min(average, MOST_AGENTS) - SLACK))


def _settled(tallies: Tallies, category: str, time: float) -> Gauge:
    """The category's gauge, with its time counted up to now."""
    gauge = tallies.gauges.setdefault(category, Gauge(since=time))
    passed = time - gauge.since
    gauge.since = time
    if gauge.at_work > 0 and passed > 0:
        gauge.area += gauge.at_work * passed
        goodput = tallies.at(category, gauge.at_work)
        goodput.wall_seconds += passed
        goodput.filled_seconds += passed if gauge.queued else 0.0
    return gauge


def _count_verdict(tallies: Tallies, task: TaskState, fact: f.PhaseFact) -> None:
    tally = _tally(tallies, task)
    goodput = (
        tallies.at(task.session.shift.category, task.session.shift.agents)
        if task.session.shift
        else Goodput()
    )
    tallies.has_news = True
    if isinstance(fact, f.Landed):
        tally.landed += 1
        goodput.landed += 1
        if not task.trouble.failures:
            goodput.first_landed += 1
            goodput.first_ended += 1
    elif isinstance(fact, f.WorkFinished):
        _count_seconds(tally, task, fact.seconds)
        _count_usage(tally, goodput, fact.usage)
        tally.repeats = max(tally.repeats, fact.repeats)
    elif isinstance(fact, f.QuestionAsked | f.NoChangeNeeded):
        _count_usage(tally, goodput, fact.usage)
    elif isinstance(fact, f.CandidatePassed):
        tally.green += 1
        if not any(check.reused for check in fact.checks):  # else not all the time they take is known
            tally.check_seconds.add(max(LEAST_SECONDS, fact.seconds))
    elif isinstance(fact, f.PhaseFailed):
        _count_failure(tally, goodput, task, fact)


def _tally(tallies: Tallies, task: TaskState) -> Tally:
    agent = task.session.agent or task.spec.agent.name
    opened = task.session.opened
    model = opened.model if opened and opened.attempt == task.attempt else task.spec.agent_named(agent).model
    return tallies.of(task.category, agent, model)


def _count_failure(tally: Tally, goodput: Goodput, task: TaskState, fact: f.PhaseFailed) -> None:
    _count_usage(tally, goodput, fact.usage)
    failed_in = task.spec.pipeline[task.spec.phase_index(fact.phase)].kind
    if failed_in is PhaseKind.CHECK:
        tally.red += 1
    if failed_in is PhaseKind.CHECK and fact.error is ErrorClass.CHECK:
        tally.check_seconds.add(max(LEAST_SECONDS, fact.seconds))
    if task.phase.kind is not PhaseKind.AGENT:
        return  # the attempt is not over
    if fact.error is ErrorClass.CONFLICT:
        tally.conflicts += 1
        goodput.conflicts += 1
    elif fact.error in OWN_FAULTS:
        tally.failed += 1
        goodput.failed += 1
    if len(task.trouble.failures) == 1 and (fact.error is ErrorClass.CONFLICT or fact.error in OWN_FAULTS):
        goodput.first_ended += 1
    if fact.error is ErrorClass.TIMEOUT and fact.seconds > 0:
        _count_seconds(tally, task, fact.seconds)  # at least as long


def _count_seconds(tally: Tally, task: TaskState, seconds: float) -> None:
    took = max(LEAST_SECONDS, seconds)
    tally.seconds.add(took)
    if task.spec.has_estimate:
        tally.estimated.add(took, max(LEAST_SECONDS, task.spec.estimate_seconds))


def _count_usage(tally: Tally, goodput: Goodput, usage: Usage | None) -> None:
    if usage is None:
        return
    tokens = usage.input_tokens + usage.output_tokens
    if tokens:
        tally.tokens.add(tokens)
    if usage.cost_usd is None:
        return
    tally.cost_usd.add(max(LEAST_USD, usage.cost_usd))
    goodput.cost_usd += usage.cost_usd
    if tokens:
        tally.paid_usd += usage.cost_usd
        tally.paid_tokens += tokens


_VERDICTS = (f.WorkFinished, f.QuestionAsked, f.NoChangeNeeded, f.CandidatePassed, f.Landed, f.PhaseFailed)
