"""Reasons in words, with what only a reader knows: the time, the claims, and if a run is alive."""

from dataclasses import replace

from interlock.events.asked import Permission
from interlock.events.baselines import obstacle
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.reason import Reason, Why
from interlock.model.task import PhaseKind
from interlock.ui.plain import counted, inert
from interlock.ui.reading import Reading, open_permissions
from interlock.ui.words.checks import main_text
from interlock.ui.words.evidence import landed_text

NEEDS_A_RUN = (
    Why.READY,
    Why.SLOTS,
    Why.CLUTCH,
    Why.LANE,
    Why.LEASE,
    Why.OVERLAP,
    Why.BACKOFF,
    Why.STOPPING,
    Why.NO_RUN,
)
"""Reasons that mean nothing once the loop is gone."""


QUIET_SECONDS = 30.0
"""A loop that is well renews its claims three times as often."""


def in_words(reading: Reading, task: TaskState, reason: Reason) -> Reason:
    """The reason with the reader's knowledge: the time, the claims, and if a run is alive."""
    if task.stage is Stage.RUNNING:
        return Reason(Why.RUNNING, _running(reading, task))
    if task.stage is Stage.FAILED:
        return Reason(Why.FAILED, f"{task.why} ({counted(task.attempt, 'attempt')})")
    if task.stage is Stage.DONE and task.landed:
        how = landed_text(task.landed.commit[:12], task.landed.evidence)
        return Reason(Why.DONE, f"{how} ({counted(task.attempt, 'attempt')})")
    if task.stage is Stage.CANCELLED:
        return Reason(Why.CANCELLED, task.why)
    if reason.why is Why.CHECK and (check := obstacle(reading.state, task.spec)):
        return replace(reason, text=f"`{inert(check.command)}` {main_text(check)}")
    if not reading.is_live and reason.why in NEEDS_A_RUN:
        return Reason(Why.NO_RUN, "no run is active")
    return reason


def _running(reading: Reading, task: TaskState) -> str:
    by = f" by {task.who.name}" if task.phase.kind is PhaseKind.AGENT else ""
    text = f"{task.phase.name}{by}, attempt {task.attempt}, for {lasting(reading.now - task.since)}"
    claim = reading.claim_on(task.spec.id)
    if not reading.is_live:
        return f"{text}; its run ended, the next run continues it"
    if asked := open_permissions(task):
        return f"{text}; waits for permission: {in_short(asked)}"
    if claim and claim.renewed_seconds_ago > QUIET_SECONDS:
        return f"{text}; no heartbeat for {lasting(claim.renewed_seconds_ago)}"
    if claim and claim.note:
        return f"{text}: {inert(claim.note)}"
    return text


def in_short(asked: list[Permission]) -> str:
    """The first one, and how many there are besides."""
    first = inert(" ".join((asked[0].tool, asked[0].text)).strip())
    return f"{first} (and {len(asked) - 1} more)" if len(asked) > 1 else first
