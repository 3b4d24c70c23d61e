"""A task graph that was accepted, and the way to it from the text of task-graph.yaml."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from interlock.model.garbage import nothing_is_garbage
from interlock.model.setup import Setup
from interlock.model.task import Agent, Task
from interlock.plan.problem import Problem


@dataclass(frozen=True, slots=True)
class Graph:
    """A checked task graph. Its needs lead only to tasks in it and have no cycle."""

    tasks: tuple[Task, ...]
    """Tasks in the order of the file."""
    digest: str
    """SHA-256 of the text."""
    source: str
    warnings: tuple[Problem, ...] = ()
    agents: tuple[Agent, ...] = ()
    setup: Setup | None = None


def parse(text: str | bytes, source: str, files: Collection[str] | None = None) -> Graph:
    """The graph, or `GraphProblems` with all of them. With `files` it also warns of empty globs."""
    from interlock.plan.accept import accept  # noqa: PLC0415 - YAML and schema libraries are slow to import

    with nothing_is_garbage():
        return accept(text, source, files)


def json_schema() -> dict[str, Any]:  # Any: a JSON Schema is open by nature
    """The format as JSON Schema 2020-12, for editors."""
    from interlock.plan.schema import GraphPart  # noqa: PLC0415 - pydantic is slow to import

    schema = GraphPart.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "task-graph.yaml"}
