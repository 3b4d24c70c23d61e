"""The candidates for a task: of the agents it names, those with its role, capabilities and strength.

Importing this module imports pydantic; `parse` does so when it is called.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from interlock.model.task import ANY, COMPLEXITIES, WORKER
from interlock.plan.routes import Route, values_of
from interlock.plan.schema import AgentPart, TaskPart, TaskSettings


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requirements of a task on its agent."""

    names: tuple[str, ...]
    """Names of agents, or labels that several have, or `any`."""
    role: str
    requires: tuple[str, ...]
    complexity: str
    route: str = ""
    """The route that names them; empty: the task does, or `defaults`."""


@dataclass(frozen=True, slots=True)
class Found:
    """The agents that can take a task, and what the other named agents lack."""

    able: tuple[str, ...]
    short: dict[str, str]


_SAID = frozenset({"agent", "role", "requires", "complexity"})
"""The settings that say who could have a task."""


class Candidates:
    """Finds the agents of tasks. Most tasks want the same, so each answer is worked out once."""

    def __init__(
        self, defaults: TaskSettings, agents: Mapping[str, AgentPart], routes: Sequence[Route] = ()
    ) -> None:
        self._agents = agents
        self._routes = routes
        self._all_defaults = defaults
        self._known: dict[Wanted, Found] = {}
        self._defaults = {key: getattr(defaults, key) for key in _SAID & defaults.model_fields_set}
        self._by_default = _wanted(self._defaults)

    def want(self, task: TaskPart, id: str) -> Wanted:
        said = _SAID & task.model_fields_set
        if self._routes and "agent" not in said:
            return self._routed(task, id, said)
        if not said:
            return self._by_default
        return _wanted(self._defaults | {key: getattr(task, key) for key in said})

    def _routed(self, task: TaskPart, id: str, said: Set[str]) -> Wanted:
        """Return the wishes of a task that names no agent: the first route whose condition holds does."""
        want = _wanted(self._defaults | {key: getattr(task, key) for key in said})
        values = values_of(task, self._all_defaults, id)
        for route in self._routes:
            if route.condition is None or route.condition.holds(values):
                return replace(want, names=route.agents, route=route.name)
        return want

    def of(self, want: Wanted) -> Found:
        if want not in self._known:
            named = dict.fromkeys(name for word in want.names for name in named_by(word, self._agents))
            short = {name: shortfall(self._agents[name], want) for name in named}
            able = tuple(name for name in named if not short[name])
            self._known[want] = Found(able, {name: text for name, text in short.items() if text})
        return self._known[want]


def _wanted(given: Mapping[str, Any]) -> Wanted:  # Any: some are words and some are lists
    return Wanted(
        tuple(given.get("agent", ())),
        given.get("role", WORKER),
        tuple(dict.fromkeys(given.get("requires", ()))),
        given.get("complexity", ""),
    )


def named_by(word: str, agents: Mapping[str, AgentPart]) -> Sequence[str]:
    """The agents that a word stands for: the one of that name, else those with that label."""
    if word in agents:
        return (word,)
    return [name for name, agent in agents.items() if word == ANY or word in agent.labels]


def shortfall(agent: AgentPart, want: Wanted) -> str:
    """The requirements that the agent does not meet, in words; empty if it meets all."""
    return ", ".join(_shortfalls(agent, want))


def _shortfalls(agent: AgentPart, want: Wanted) -> Iterator[str]:
    if want.role not in agent.roles:
        yield f"is not a {want.role}"
    if missing := [f"`{name}`" for name in want.requires if name not in agent.capabilities]:
        yield f"lacks {', '.join(missing)}"
    if want.complexity and COMPLEXITIES.index(want.complexity) > COMPLEXITIES.index(agent.complexity):
        yield f"is not for tasks above {agent.complexity} complexity"
