"""Expected and edited paths of tasks, as programs get them."""

from collections.abc import Iterable

from interlock.events.state import TaskState
from interlock.learn.drift import Drift, drift_of, drifts, forecast_of
from interlock.ui.words.reasons import with_reasons


def drift_document(drift: Drift | None) -> dict[str, object] | None:
    """A drift as programs get it."""
    if drift is None:
        return None
    return {
        "expected": drift.expected,
        "edited": drift.edited,
        "touched": drift.touched,
        "foreseen": drift.foreseen,
        "precision": drift.precision,
        "recall": drift.recall,
        "surprises": drift.surprises,
        "idle": drift.idle,
    }


def footprints_document(tasks: list[TaskState]) -> dict[str, object]:
    """The document of `interlock footprints`."""
    total = total_drift(drifts(tasks).values())
    return {"tasks": [_footprint(task) for task in tasks], "drift": drift_document(total)}


def _footprint(task: TaskState) -> dict[str, object]:
    return {
        "id": task.spec.id,
        "stage": task.stage,
        "forecast": with_reasons(forecast_of(task)),
        "touched": task.change.work.touched if task.change.work else None,
        "scope": task.session.scope,
        "requests": with_reasons(task.talk.requests),
        "drift": drift_document(drift_of(task)),
    }


def total_drift(found: Iterable[Drift]) -> Drift:
    return sum(found, Drift())
