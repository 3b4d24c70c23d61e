"""Estimates the cost of one attempt. There is no estimate for an agent whose costs were never reported."""

from dataclasses import dataclass

from interlock.learn.evidence import PastAttempts, Kind
from interlock.learn.spread import Spread, spread


@dataclass(frozen=True, slots=True)
class Price:
    """Probable cost of an attempt."""

    amount: Spread
    usd_each: float = 1.0

    def quantile(self, probability: float) -> float:
        """Return the dollars that it stays below with this probability."""
        return self.usd_each * self.amount.quantile(probability)


def price(evidence: PastAttempts, kind: Kind) -> Price | None:
    """Estimate from the agent's past costs; else from the tokens it takes, where its model's price is known.

    What other agents cost says nothing: their models have other prices.
    """
    mine = evidence.of_agent(kind.agent)
    cost = spread(mine, kind, lambda tally: tally.cost_usd)
    if cost.weight:
        return Price(cost)
    tokens = spread(mine, kind, lambda tally: tally.tokens)
    each = _usd_per_token(evidence, kind.model)
    return Price(tokens, each) if tokens.weight and each else None


def _usd_per_token(evidence: PastAttempts, model: str) -> float | None:
    known = [tally for tally in evidence.here.values() if tally.model == model]
    tokens = sum(tally.paid_tokens for tally in known)
    return sum(tally.paid_usd for tally in known) / tokens if model and tokens else None
