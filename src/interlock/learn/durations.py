"""How long an agent works on a task, and how long its checks take."""

from interlock.learn.evidence import Evidence, Kind
from interlock.learn.spread import Spread, spread


def agent_seconds(evidence: Evidence, kind: Kind) -> Spread:
    """Of one attempt that leaves a change. Ask it with the task's own estimate."""
    return spread(evidence, kind, lambda tally: tally.seconds)


def check_seconds(evidence: Evidence, kind: Kind) -> Spread | None:
    """Of the checks of one change; None where none has been checked yet."""
    found = spread(evidence, kind, lambda tally: tally.check_seconds)
    return found if found.weight else None
