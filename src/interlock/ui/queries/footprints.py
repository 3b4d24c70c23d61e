"""Expected and edited paths of tasks, as programs get them."""

from collections.abc import Iterable

from interlock.events.state import TaskState
from interlock.learn.drift import Drift, drift_of, forecast_of
from interlock.ui.words.reasons import with_reasons


def drift_document(drift: Drift | None) -> dict[str, object] | None:
    """The same for programs."""
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


def footprint_document(task: TaskState) -> dict[str, object]:
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
