"""The best schedule that CP-SAT finds in a given time. OR-tools is a dependency of this measurement only."""

import importlib
import importlib.util

from interlock.model.task import Task

SECONDS = 10.0
UNITS = 10
"""Times are whole numbers there: tenths of a second."""


def is_installed() -> bool:
    """Can it be measured here."""
    return importlib.util.find_spec("ortools") is not None


def optimum(tasks: list[Task], workers: int, known: float) -> float:
    """The shortest makespan found, and not longer than the one that is known."""
    # By name: it is absent where nobody asked for it, and then mypy would not find it either.
    cp_model = importlib.import_module("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    horizon = round(known * UNITS) + 1
    spans, ends = {}, {}
    for task in tasks:
        length = round(task.estimate_seconds * UNITS)
        start = model.new_int_var(0, horizon, f"start {task.id}")
        ends[task.id] = model.new_int_var(0, horizon, f"end {task.id}")
        spans[task.id] = model.new_interval_var(start, length, ends[task.id], task.id)
        for need in task.needs:
            model.add(start >= ends[need])
    model.add_cumulative(list(spans.values()), [1] * len(tasks), workers)
    for name in {name for task in tasks for name in task.uses}:
        model.add_no_overlap([spans[task.id] for task in tasks if name in task.uses])
    end = model.new_int_var(0, horizon, "end")
    model.add_max_equality(end, list(ends.values()))
    model.minimize(end)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    solver.parameters.num_workers = 2
    found = solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return min(known, float(solver.objective_value) / UNITS) if found else known
