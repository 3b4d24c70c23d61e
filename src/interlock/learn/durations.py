"""Estimates the time that an agent works on a task.

1. A task without an estimate takes what such work has taken. The default estimate is no evidence.
2. A written estimate holds, corrected only by the results of other written estimates.
"""

from dataclasses import dataclass

from interlock.learn.evidence import Kind, PastAttempts
from interlock.learn.spread import Spread, spread, spread_by_estimate


@dataclass(frozen=True, slots=True)
class Durations:
    """Time of one attempt that leaves a change."""

    plain: Spread
    by_estimate: Spread

    def quantile(self, probability: float, estimate: float | None) -> float | None:
        """Return the time that it stays below with this probability; None if nothing is known."""
        if estimate is not None:
            return self.by_estimate.quantile(probability, estimate)
        return self.plain.quantile(probability) if self.plain.weight else None


def agent_seconds(evidence: PastAttempts, kind: Kind) -> Durations:
    """Return the times of a kind of work, by the log."""
    return Durations(
        spread(evidence, kind, lambda tally: tally.seconds),
        spread_by_estimate(evidence, kind, lambda tally: tally.estimated),
    )
