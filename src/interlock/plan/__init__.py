"""The task graph: what it says, what is wrong with it, what may start and how long it will take.

Pure: text and values in, values out. It starts nothing, and it does not know how a task is going.
"""

from interlock.plan.analysis import Analysis, Standing, analyse
from interlock.plan.difference import changes, changes_during_run
from interlock.plan.graph import Graph, json_schema, parse
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
