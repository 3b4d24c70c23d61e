"""How long an agent works on a task.

1. A task without an estimate takes what such work has taken. A default that nobody wrote is no evidence.
2. A written estimate holds, corrected only by what came of other written estimates.
"""

from dataclasses import dataclass

from interlock.learn.evidence import Evidence, Kind
from interlock.learn.spread import Spread, spread, spread_by_estimate


@dataclass(frozen=True, slots=True)
class Durations:
    """Of one attempt that leaves a change."""

    plain: Spread
    by_estimate: Spread

    def quantile(self, probability: float, estimate: float | None) -> float | None:
        """What it stays below with this probability; None: nothing says."""
        if estimate is not None:
            return self.by_estimate.quantile(probability, estimate)
        return self.plain.quantile(probability) if self.plain.weight else None


def agent_seconds(evidence: Evidence, kind: Kind) -> Durations:
    """What the log says of a kind of work."""
    return Durations(
        spread(evidence, kind, lambda tally: tally.seconds),
        spread_by_estimate(evidence, kind, lambda tally: tally.estimated),
    )
