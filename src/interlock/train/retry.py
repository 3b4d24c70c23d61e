"""When a task is tried again, and when trying again makes no sense any more."""

from interlock.events.facts import Paused, PhaseFailed, PhaseLost, TaskFailed
from interlock.events.state import TaskState
from interlock.model.backoff import grown
from interlock.model.outcome import HOPELESS, WAITS, ErrorClass

QUICK_LOSSES = 4
LOSS_SECONDS, MAX_LOSS_SECONDS = 5.0, 600.0
MAX_LOSSES = 20
"""A controller that dies is not the fault of the tasks that it has under way, so losses never fail a task.
But a task may be what ends the controller: from the fifth loss in a row without any result it waits, twice as
long each time, and others get on meanwhile; after the twentieth, some two hours later, it waits for a person.
"""

BACKOFF_SECONDS = 1.0
"""After an agent's own failure, doubling. A red check or a conflict goes back at once: it brings feedback."""
MAX_BACKOFF_SECONDS = 60.0
MAX_WAIT_SECONDS = 600.0
"""For a model that cannot be had."""
MAX_ASKED_SECONDS = 3600.0
"""The longest wait that a provider can ask for: after this, the user may have paid."""

MAX_WAITS = 12
"""Times in a row that the model could not be had. With growing pauses, about an hour."""


def loss_delay(task: TaskState) -> float:
    """Return the wait after one more loss. `task` is its state before that."""
    waits = task.losses - QUICK_LOSSES
    return 0.0 if waits < 0 else grown(LOSS_SECONDS, MAX_LOSS_SECONDS, waits)


def failure_delay(task: TaskState, error: ErrorClass, asked_seconds: float) -> float:
    """Return the wait after one more failure of an agent: growing, and as long as its provider asks for.

    `task` is its state before that.
    """
    if error in WAITS:
        own = grown(BACKOFF_SECONDS, MAX_WAIT_SECONDS, task.waits)
        return max(own, min(asked_seconds, MAX_ASKED_SECONDS))
    return grown(BACKOFF_SECONDS, MAX_BACKOFF_SECONDS, len(task.failures))


def hold(task: TaskState, loss: PhaseLost) -> Paused | None:
    """A pause, if this loss is one too many. `task` is its state before that."""
    losses = task.losses + 1
    if losses < MAX_LOSSES:
        return None
    why = f"{loss.phase} was lost {losses} times in a row without any result (last: {loss.why})"
    return Paused(loss.task, why, losses)


def give_up(task: TaskState, setback: PhaseFailed, agent: str = "") -> TaskFailed | None:
    """The end of a task, if this setback (of `agent`) is one too many. `task` is its state before that."""
    if setback.error in WAITS:
        return _waited_too_often(task, setback)
    return (
        _hopeless(task, setback, agent or task.who.name)
        or _same_again(task, setback)
        or _retries_used(task, setback)
    )


def _hopeless(task: TaskState, setback: PhaseFailed, agent: str) -> TaskFailed | None:
    if setback.error not in HOPELESS:
        return None
    hopeless = {failure.agent for failure in task.failures if failure.error in HOPELESS} | {agent}
    if not hopeless.issuperset(agent.name for agent in task.spec.candidates):
        return None  # it is the agent that cannot work, and another may have the task
    return TaskFailed(setback.task, setback.attempt, f"no attempt can succeed: {setback.summary}")


def _waited_too_often(task: TaskState, setback: PhaseFailed) -> TaskFailed | None:
    waits = task.waits + 1
    if waits < MAX_WAITS:
        return None
    why = f"the model could not be had {waits} times in a row (last: {setback.summary})"
    return TaskFailed(setback.task, setback.attempt, why)


def _same_again(task: TaskState, setback: PhaseFailed) -> TaskFailed | None:
    previous = task.failures[-1].fingerprint if task.failures else ""
    if not previous or previous != setback.fingerprint:
        return None
    why = f"{setback.phase} failed twice in a row in the same way: {setback.summary}"
    return TaskFailed(setback.task, setback.attempt, why, breaker=True)


def _retries_used(task: TaskState, setback: PhaseFailed) -> TaskFailed | None:
    # What failed before a person said `retry` is kept for what it tells, without a fingerprint.
    failures = sum(1 for failure in task.failures if failure.fingerprint) + 1
    if failures <= task.spec.retries:
        return None
    times = "once" if failures == 1 else f"{failures} times"
    retries = task.spec.retries
    allowed = "1 retry was allowed" if retries == 1 else f"{retries or 'no'} retries were allowed"
    why = f"{setback.summary} (failed {times}; {allowed})"
    return TaskFailed(setback.task, setback.attempt, why)
