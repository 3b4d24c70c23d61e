"""Estimates the chance that one attempt lands: a Beta distribution per kind of work, agent and model."""

from dataclasses import dataclass

from interlock.learn.evidence import Kind, PastAttempts

PUBLISHED = {"docs": 0.82, "feature": 0.66}
"""Shares of agents' pull requests that were accepted, in public studies."""
UNKNOWN = 0.70
STRENGTH = 8.0
"""Attempts that a published share counts for. Shares differ between projects by some 0.15, which is the
deviation of a Beta distribution around 0.7 that rests on eight attempts."""


@dataclass(frozen=True, slots=True)
class Success:
    """The chances of one attempt."""

    landed: float
    """Attempts that landed, those that were only heard of and the prior included."""
    failed: float

    @property
    def probability(self) -> float:
        """That one attempt lands."""
        return self.landed / (self.landed + self.failed)


def success(evidence: PastAttempts, kind: Kind) -> Success:
    """Return the chances of one attempt of this kind."""
    prior = PUBLISHED.get(kind.category, UNKNOWN)
    own = evidence.own(kind)
    landed = STRENGTH * prior + own.landed
    failed = STRENGTH * (1 - prior) + own.attempts - own.landed
    for witness in evidence.witnesses(kind):
        if heard := witness.tally.attempts:
            weight = witness.weight(heard)
            landed += weight * witness.tally.landed / heard
            failed += weight * (1 - witness.tally.landed / heard)
    return Success(landed, failed)
