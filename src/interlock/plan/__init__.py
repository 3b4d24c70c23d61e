"""The task graph: what it says, what is wrong with it, what may start and how long it will take.

Pure: text and values in, values out. It starts nothing, and it does not know how a task is going.
"""

from collections.abc import Collection
from typing import Any

from interlock.plan.analysis import Analysis, Standing, analyse
from interlock.plan.difference import changes, changes_during_run
from interlock.plan.graph import Graph
from interlock.plan.problem import GraphProblems, Problem
from interlock.plan.selection import Filter, select

__all__ = [
    "Analysis",
    "Filter",
    "Graph",
    "GraphProblems",
    "Problem",
    "Standing",
    "analyse",
    "changes",
    "changes_during_run",
    "json_schema",
    "parse",
    "select",
]


def parse(text: str | bytes, source: str, files: Collection[str] | None = None) -> Graph:
    """The graph, or `GraphProblems` with all of them. With `files`, warnings of missing folders."""
    from interlock.plan.accept import accept  # noqa: PLC0415 - YAML and schema libraries are slow to import

    return accept(text, source, files)


def json_schema() -> dict[str, Any]:  # Any: a JSON Schema is open by nature
    """The format as JSON Schema 2020-12, for editors."""
    from interlock.plan.schema import GraphPart  # noqa: PLC0415 - pydantic is slow to import

    schema = GraphPart.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "task-graph.yaml"}
