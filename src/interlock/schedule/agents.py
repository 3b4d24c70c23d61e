"""The choice of the agent for an attempt, among the candidates of its task.

Rules; the first that tells two candidates apart decides:
1. Not one whose model is closed for now, if another's is open; if all are, the one that opens first.
2. A session that was cut off goes on with the agent that had it.
3. The one that has failed at this task least often: another may see what it did not (A1). One that
   cannot work at all until a person has done something (no credential, not installed) comes after all others.
4. Not one that takes only easier tasks than this one looks like. The graph's own word is settled: an agent
      that does not fit it is no candidate.
5. The least expected cost until it lands, as far as earlier work tells (the order of `forecast.options`);
   within ALIKE of the best they are all as good.
6. The one that has just worked on another task of its story: it, or its provider, still knows the context
   (P5).
7. The order in the graph.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.events.state import State, TaskState
from interlock.model.forecast import Option
from interlock.model.outcome import HOPELESS, OWN_FAULTS
from interlock.model.provider import provider_of
from interlock.model.reason import Reason, Value, Why, said
from interlock.model.task import COMPLEXITIES, Agent

WARM_SECONDS = 300.0
"""About as long as providers remember the beginning of a prompt."""
HOPELESS_WEIGHT = 1_000
"""More than any task has retries."""

ALIKE = 1.1
"""A forecast is not as exact as this."""

_Rank = tuple[float, bool, int, bool, int, bool, int]
"""Rules 1 to 7; the least is chosen."""


@dataclass(frozen=True, slots=True)
class Pick:
    """The agent chosen for an attempt, and the reason; None where there was nothing to choose."""

    agent: str
    why: Reason | None = None


def pick_agent(state: State, task: TaskState, now: float) -> Pick:
    agents = task.spec.candidates
    if len(agents) == 1:
        return Pick(agents[0].name)
    ranks = {agent.name: _rank(state, task, agent, now) for agent in agents}
    chosen = min(agents, key=lambda agent: ranks[agent.name])
    usual = min(agents, key=lambda agent: ranks[agent.name][4:])
    if chosen is usual:
        return Pick(chosen.name, _as_usual(state, task, chosen, now))
    differs = map(operator.ne, ranks[chosen.name], ranks[usual.name])
    instead = next(rule for rule, decides in zip(_INSTEAD, differs, strict=False) if decides)
    return Pick(chosen.name, instead(state, task, usual, now))


def _rank(state: State, task: TaskState, agent: Agent, now: float) -> _Rank:
    forecast = task.forecast
    looks = forecast.complexity if forecast and not task.spec.complexity else ""
    return (
        max(0.0, closed_until(state, task, agent) - now),
        not (task.session.cut_off and task.who is agent),
        _failures(task, agent),
        looks in COMPLEXITIES and COMPLEXITIES.index(agent.complexity) < COMPLEXITIES.index(looks),
        _place(forecast.options if forecast else (), agent),
        _warm(state, task, now) != agent.name,
        task.spec.candidates.index(agent),
    )


def _place(options: Sequence[Option], agent: Agent) -> int:
    """Return the agent's rank by earlier work: 0 for the best and all that are as good."""
    in_money = all(option.cost_usd is not None for option in options)
    for place, option in enumerate(options):
        if option.agent == agent.name:
            is_alike = option.to_land(in_money) <= ALIKE * options[0].to_land(in_money)
            return 0 if is_alike else place
    return len(options)


def _warm(state: State, task: TaskState, now: float) -> str:
    warm = state.learned.warm.get(task.spec.story)
    return warm.agent if warm and now - warm.time <= WARM_SECONDS else ""


def closed_until(state: State, task: TaskState, agent: Agent) -> float:
    """Return the time until which the model of an agent takes nothing, as far as this task knows."""
    provider = state.limits.brakes.get(provider_of(agent)) if state.limits.brakes else None
    return max(task.trouble.closed.get(agent.name, 0.0), provider.until if provider else 0.0)


def _failures(task: TaskState, agent: Agent) -> int:
    mine = [failure.error for failure in task.trouble.failures if failure.agent == agent.name]
    return sum(HOPELESS_WEIGHT if e in HOPELESS else e in OWN_FAULTS for e in mine)


def _as_usual(state: State, task: TaskState, agent: Agent, now: float) -> Reason:
    if _warm(state, task, now) == agent.name:
        return Reason(Why.SAME_STORY, {"tasks": (state.learned.warm[task.spec.story].task,)})
    options = task.forecast.options if task.forecast else ()
    option = next((option for option in options if option.agent == agent.name), None)
    count: dict[str, Value] = {"count": len(task.spec.candidates)}
    if option is None or task.forecast is None or not task.forecast.evidence:
        return Reason(Why.FIRST_CHOICE, count)
    costs = {} if option.cost_usd is None else {"cost_usd": option.cost_usd}
    figures = Reason(Why.FORECAST, {"seconds": option.seconds, "success": option.success} | costs)
    return Reason(Why.BEST_CHOICE, {**count, "cause": figures})


def _is_closed(state: State, task: TaskState, usual: Agent, now: float) -> Reason:
    provider = state.limits.brakes.get(provider_of(usual))
    fields: dict[str, Value] = {"agent": usual.name, "seconds": closed_until(state, task, usual) - now}
    if provider and provider.why and provider.until > now:
        fields["cause"] = provider.why
    return Reason(Why.MODEL_CLOSED, fields)


def _was_cut_off(_state: State, _task: TaskState, _usual: Agent, _now: float) -> Reason:
    return Reason(Why.CUT_OFF)


def _has_failed(_state: State, task: TaskState, usual: Agent, _now: float) -> Reason:
    last = next(failure for failure in reversed(task.trouble.failures) if failure.agent == usual.name)
    fields: dict[str, Value] = {"agent": usual.name, "attempt": last.attempt, "cause": last.why or said("")}
    return Reason(Why.AGENT_FAILED, fields)


def _is_too_weak(_state: State, _task: TaskState, usual: Agent, _now: float) -> Reason:
    return Reason(Why.TOO_HARD, {"agent": usual.name, "complexity": usual.complexity})


_INSTEAD = (_is_closed, _was_cut_off, _has_failed, _is_too_weak)
"""Reasons against the usual agent, by the rule that decided. Rules 5 to 7 choose the usual one."""
