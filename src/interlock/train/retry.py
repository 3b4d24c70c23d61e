"""Retries, pauses between them, deferrals and giving up: every such rule of the loop and its hands.

Rules (a pause doubles each time up to its limit; `task` is always the state before the setback):
1. An agent that fails tries again after 1 s, up to 60 s. A red check or a conflict goes back at once: it
   brings feedback.
2. The same failure twice in a row ends the task, and so do more failures than its `retries`. A failure that
   only a person can mend ends it once every agent that could have it has failed like that.
3. An unavailable model is waited for, however long it takes: after 1 s, up to 10 min, or as long as the
   provider asks (at most a day, for its clock may be wrong). This is no failure of the task.
4. A controller that dies is not the fault of its tasks, so a lost phase fails none. But a task may be what
   ends the controller: from the fifth loss in a row without any result it waits 5 s, up to 10 min, and others
   get on meanwhile. After the twentieth, some two hours later, it waits for a person.
5. Trouble outside the task (a full disk, a locked repository) defers it for 2 s, up to 30 s. After twenty
   deferrals in a row, some nine minutes, it counts as a failure of the task. An agent that fails on a full
   disk may have filled it, and each of its sessions is paid for: it counts after two deferrals in a row.
6. A landing that is held up, here or by the remote that it is pushed to, looks again after 2 s (0.5 s if the
   repository is only busy), up to 5 min. After 24 failed looks, an hour and a half, no person is there to
   mend it, and the pauses grow up to 30 min.
7. A check that cannot be judged because of main is repeated at once the first time: while main is red the
   task waits anyway. After that it waits 1 s, up to 1 min, as the check wavers.
8. A build that comes to no result is no failure of a task: the next build waits as in rule 9.
9. An act that fails unexpectedly is left alone for 5 s, up to 5 min, so that the loop does not spin on it.
10. A log that cannot be used is tried again after 0.5 s (a round of the loop: after 1 s), up to 10 s.
11. What an agent made is paid for: while a full disk keeps it from being imported, that is tried again after
    1 s, up to 30 s, 23 times. These ten minutes are for a person to make room.
12. A phase that goes on beyond its own limits hangs, and has failed: an agent's after its timeout, a check's
    when every command could have run once on the change, twice on main and three times for each canary.
13. A change may land while a merge with the upstream is checked: it is merged and checked anew, three times.
14. A task that waits for a lease of another is given up when its `lease_timeout` is over (`engine.decide`).
15. A statement that cannot be written is tried again after 1 s, up to 1 min, eight times in a row; then with
    the next landing, and at the end of the run. No task waits for it.
16. An open pull request is looked at again as often as the settings say, up to ten times as long while
    nothing changes.
17. All attempts of a task come out of one budget, whatever layer ended them and however often the task was
    reopened: its `retries`, the first, and SPARE_ATTEMPTS for losses, deferrals and models that broke off. An
    attempt that cost nothing, as its model never answered, is not counted. A person who says how to go on (a
    retry, an answer, a review) gives it the whole budget again.
"""

from collections.abc import Sequence
from dataclasses import replace

from interlock.events import facts as f
from interlock.events.state import TaskState
from interlock.model.backoff import grown
from interlock.model.canary import PLACES
from interlock.model.failure_words import failure_text
from interlock.model.outcome import HOPELESS, WAITS, ErrorClass
from interlock.model.reason import Reason, Value, Why, said
from interlock.model.task import PhaseKind, TaskId

FAILURE_SECONDS, MAX_FAILURE_SECONDS = 1.0, 60.0
MAX_WAIT_SECONDS, MAX_ASKED_SECONDS = 600.0, 24 * 3600.0
SPARE_ATTEMPTS = 20
QUICK_LOSSES, LOSS_SECONDS, MAX_LOSS_SECONDS, MAX_LOSSES = 4, 5.0, 600.0, 20
DEFER_SECONDS, MAX_DEFER_SECONDS, MAX_DEFERRALS, MAX_FULL = 2.0, 30.0, 20, 2
HELD_SECONDS, BUSY_SECONDS, MAX_HELD_SECONDS = 2.0, 0.5, 300.0
LONG_HELD, MAX_LONG_HELD_SECONDS = 24, 1800.0
WAVERING_SECONDS, MAX_WAVERING_SECONDS = 1.0, 60.0
TROUBLE_SECONDS, MAX_TROUBLE_SECONDS = 5.0, 300.0
WRITE_SECONDS, ROUND_SECONDS, MAX_LOG_SECONDS = 0.5, 1.0, 10.0
IMPORT_SECONDS, MAX_IMPORT_SECONDS, MAX_IMPORTS = 1.0, 30.0, 23
UPSTREAM_TRIES = 3
STATEMENT_SECONDS, MAX_STATEMENT_SECONDS, STATEMENT_TRIES = 1.0, 60.0, 8
MAX_POLLS = 10.0

PhaseKey = tuple[TaskId, int, str, int]
"""The first fields of every fact about a phase: task, attempt, phase, epoch."""


def failure_delay(task: TaskState, error: ErrorClass, asked_seconds: float) -> float:
    """Return the wait after one more failure of an agent (rules 1 and 3)."""
    if error in WAITS:
        own = grown(FAILURE_SECONDS, MAX_WAIT_SECONDS, task.trouble.waits)
        return max(own, min(asked_seconds, MAX_ASKED_SECONDS))
    return grown(FAILURE_SECONDS, MAX_FAILURE_SECONDS, len(task.trouble.failures))


def lost(task: TaskState, key: PhaseKey, why: Reason, archived: str) -> list[f.Fact]:
    """Return the loss of a phase, and the pause if it is one too many (rule 4)."""
    waits, losses = task.trouble.losses - QUICK_LOSSES, task.trouble.losses + 1
    delay = 0.0 if waits < 0 else grown(LOSS_SECONDS, MAX_LOSS_SECONDS, waits)
    loss = f.PhaseLost(*key, why, archived, delay)
    if losses < MAX_LOSSES:
        return [loss]
    held = Reason(Why.LOST_OFTEN, {"phase": loss.phase, "times": losses, "cause": why})
    return [loss, f.Paused(loss.task, losses=losses, reason=held)]


def deferred(task: TaskState, key: PhaseKey, why: Reason, archived: str = "") -> f.PhaseDeferred | None:
    """Return the wait until trouble outside the task is over; None: it counts as a failure now (rule 5)."""
    if task.trouble.deferrals >= (MAX_FULL if why.code == Why.DISK_FULL else MAX_DEFERRALS):
        return None
    delay = grown(DEFER_SECONDS, MAX_DEFER_SECONDS, task.trouble.deferrals)
    return f.PhaseDeferred(*key, why=why, retry_after_seconds=delay, archived=archived)


def stopped(key: PhaseKey, archived: str) -> f.PhaseDeferred:
    """Return the end of a phase that was stopped on request: it may go on at once."""
    return f.PhaseDeferred(*key, why=Reason(Why.STOPPED), retry_after_seconds=0.0, archived=archived)


def failed(key: PhaseKey, error: ErrorClass, why: Reason) -> f.PhaseFailed:
    """Return the failure of a phase that came to no result of its own."""
    return f.PhaseFailed(
        *key, error=error, why=why, fingerprint=failure_text(why), retry_after_seconds=DEFER_SECONDS
    )


def held_up(task: TaskState, key: PhaseKey, why: Reason, is_busy: bool) -> f.PhaseDeferred:
    """Return the wait of a landing until the next look (rule 6)."""
    delay = held_seconds(BUSY_SECONDS if is_busy else HELD_SECONDS, task.trouble.deferrals)
    return f.PhaseDeferred(*key, why=why, retry_after_seconds=delay)


def held_seconds(shortest: float, looks: int) -> float:
    """Return the wait of a landing that is held up until the next look, after this many looks."""
    if looks < LONG_HELD:
        return grown(shortest, MAX_HELD_SECONDS, looks)
    return grown(MAX_HELD_SECONDS, MAX_LONG_HELD_SECONDS, looks - LONG_HELD)


def poll_seconds(first: float, quiet: int) -> float:
    """Return the wait until the next look at open pull requests, after so many without news (rule 16)."""
    return grown(first, MAX_POLLS * first, quiet)


def wavered(task: TaskState, key: PhaseKey, why: Reason) -> f.PhaseDeferred:
    """Return the wait of a change that nothing can be said about while main is like this (rule 7)."""
    delay = (
        grown(WAVERING_SECONDS, MAX_WAVERING_SECONDS, task.trouble.deferrals)
        if task.trouble.deferrals
        else 0.0
    )
    return f.PhaseDeferred(*key, why=why, retry_after_seconds=delay)


def trouble_delay(times: int) -> float:
    """Return the pause after an act failed unexpectedly so many times in a row (rule 9)."""
    return grown(TROUBLE_SECONDS, MAX_TROUBLE_SECONDS, times - 1)


def log_delay(first: float, times: int) -> float:
    """Return the pause after the log could not be used, so many times before (rule 10)."""
    return grown(first, MAX_LOG_SECONDS, times)


def statement_delay(times: int) -> float:
    """Return the pause after statements could not be written, so many times in a row (rule 15)."""
    return grown(STATEMENT_SECONDS, MAX_STATEMENT_SECONDS, times - 1)


def import_pauses() -> list[float]:
    """Return the pauses between tries to import what an agent made (rule 11)."""
    return [grown(IMPORT_SECONDS, MAX_IMPORT_SECONDS, times) for times in range(MAX_IMPORTS)]


def longest_seconds(task: TaskState) -> float:
    """Return the longest that a phase may take by its own limits (rule 12)."""
    spec = task.spec
    if task.phase.kind is PhaseKind.AGENT:
        return spec.timeout_seconds
    return spec.check_seconds * (3 + 3 * PLACES) * len({*spec.done_when, *spec.verify})


def endings(task: TaskState, facts: Sequence[f.Fact], agent: str = "") -> list[f.TaskFailed]:
    """Return the end of the task, if a failure among these facts (of `agent`) is one too many (rule 2)."""
    setbacks = [fact for fact in facts if isinstance(fact, f.PhaseFailed)]
    return [end for setback in setbacks if (end := give_up(task, setback, agent))]


def used_up(task: TaskState) -> Reason | None:
    """Return the reason why no more attempt at the task is paid for; None: one may start (rule 17)."""
    limit = task.spec.retries + 1 + SPARE_ATTEMPTS
    if task.trouble.attempts < limit:
        return None
    cause: dict[str, Value] = {"cause": task.why} if task.why else {}
    return Reason(Why.ATTEMPTS_USED, {"times": task.trouble.attempts, "limit": limit} | cause)


def give_up(task: TaskState, setback: f.PhaseFailed, agent: str = "") -> f.TaskFailed | None:
    """Return the end of the task, if this setback (of `agent`) is one too many (rules 2 and 3)."""
    if setback.error in WAITS:
        return None
    return (
        _hopeless(task, setback, agent or task.who.name)
        or _same_again(task, setback)
        or _retries_used(task, setback)
    )


def _hopeless(task: TaskState, setback: f.PhaseFailed, agent: str) -> f.TaskFailed | None:
    if setback.error not in HOPELESS:
        return None
    hopeless = {failure.agent for failure in task.trouble.failures if failure.error in HOPELESS} | {agent}
    if not hopeless.issuperset(agent.name for agent in task.spec.candidates):
        return None  # it is the agent that cannot work, and another may have the task
    return _end(setback, Why.HOPELESS)


def _same_again(task: TaskState, setback: f.PhaseFailed) -> f.TaskFailed | None:
    previous = task.trouble.failures[-1].fingerprint if task.trouble.failures else ""
    if not previous or previous != setback.fingerprint:
        return None
    return replace(_end(setback, Why.SAME_FAILURE, phase=setback.phase), breaker=True)


def _retries_used(task: TaskState, setback: f.PhaseFailed) -> f.TaskFailed | None:
    # What failed before a person said `retry` is kept for what it tells, without a fingerprint.
    failures = sum(1 for failure in task.trouble.failures if failure.fingerprint) + 1
    if failures <= task.spec.retries:
        return None
    return _end(setback, Why.RETRIES_USED, times=failures, retries=task.spec.retries)


def _end(setback: f.PhaseFailed, code: Why, **fields: str | int) -> f.TaskFailed:
    """Return the end of the task for a reason that the summary of its last failure belongs to."""
    why = Reason(code, {**fields, "cause": setback.why or said("")})
    return f.TaskFailed(setback.task, setback.attempt, why)
