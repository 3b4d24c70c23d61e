"""Routes: conditions on tasks, and the agents for those that meet them.

A condition sees what the graph says about a task, so its candidates are known before anything runs.
Which of them goes first is the choice of `schedule`, by the expected cost until a change has landed.

Importing this module imports pydantic; `parse` does so when it is called.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.model.expression import NUMBER, TEXT, WORDS, Expression, ExpressionError, Kind, Known, parse
from interlock.model.nearest import suggest
from interlock.model.task import ANY, COMPLEXITIES, NORMAL, WORKER
from interlock.plan.problem import Notes
from interlock.plan.schema import GraphPart, TaskPart, TaskSettings
from interlock.plan.yaml_text import Places

NAMES: Mapping[str, Kind] = {
    "task": Kind(TEXT),
    "category": Kind(TEXT),
    "story": Kind(TEXT),
    "subsystem": Kind(TEXT),
    "role": Kind(TEXT),
    "complexity": Kind(NUMBER, COMPLEXITIES),
    "priority": Kind(NUMBER),
    "labels": Kind(WORDS),
    "requires": Kind(WORDS),
}
"""The names that a condition of a route may use: the keys of a task, and `task` for its id."""
_LISTS = ("labels", "requires")


@dataclass(frozen=True, slots=True)
class Route:
    """One of the graph's routes, read."""

    name: str
    condition: Expression | None
    """None: every task."""
    agents: tuple[str, ...]


def routes_of(part: GraphPart) -> tuple[Route, ...]:
    """Return the routes that can be read; the others have been noted."""
    found: list[Route] = []
    for position, route in enumerate(part.routes):
        try:
            condition = parse(route.when, NAMES) if route.when else None
        except ExpressionError:
            continue
        said = f": {route.when}" if route.when else ""
        found.append(Route(f"routes[{position}]{said}", condition, tuple(route.agents)))
    return tuple(found)


def values_of(task: TaskPart, defaults: TaskSettings, id: str) -> dict[str, Known]:
    """Return what a condition may name of this task; None where the graph says nothing."""

    def said(key: str) -> Known:
        for part in (task, defaults):
            if key in part.model_fields_set:
                return tuple(getattr(part, key)) if key in _LISTS else getattr(part, key)
        return () if key in _LISTS else None

    values = {key: said(key) for key in NAMES}
    complexity = values["complexity"]
    level = COMPLEXITIES.index(complexity) + 1 if isinstance(complexity, str) else None
    priority = NORMAL if values["priority"] is None else values["priority"]
    return values | {
        "task": id,
        "complexity": level,
        "role": values["role"] or WORKER,
        "priority": priority,
    }


def note_routes(part: GraphPart, places: Places, notes: Notes) -> None:
    """Note conditions that cannot be read, unknown agents, and routes that no task can reach."""
    described = places.inside("agents")
    labels = {label for agent in part.agents.values() for label in agent.labels}
    listing = f"the agents are {', '.join(described)}"
    covered = ""
    for position, route in enumerate(part.routes):
        place = f"routes[{position}]"
        if covered:
            at = places.of(("routes", position))
            notes.warn(
                at, f"no task reaches {place}: {covered} takes all", "move it further up, or remove it"
            )
        try:
            if route.when:
                parse(route.when, NAMES)
        except ExpressionError as error:
            at = places.of(("routes", position, "when"))
            notes.add(at, f"{place}.when column {error.column}: {error.text}", error.hint)
        for number, name in enumerate(route.agents):
            if name != ANY and name not in described and name not in labels:
                at = places.of(("routes", position, "try", number))
                notes.add(at, f"unknown agent `{name}`", suggest(name, {*described, *labels}, listing))
        covered = covered or ("" if route.when else place)
