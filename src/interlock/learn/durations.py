"""How long an agent works on a task."""

from interlock.learn.evidence import Evidence, Kind
from interlock.learn.spread import Spread, spread


def agent_seconds(evidence: Evidence, kind: Kind) -> Spread:
    """Of one attempt that leaves a change. Ask it with the task's own estimate."""
    return spread(evidence, kind, lambda tally: tally.seconds)
